import { answerOf, flag, instant, int32, nullable, text } from '../../http/answers.ts'
import {
  booleanField,
  changeBodyOf,
  codePoints,
  exactBodyOf,
  Fault,
  type Field,
  positiveInt32Field,
} from '../../http/fields.ts'
import { pageSchema } from '../../http/paging.ts'
import { Type } from '../../http/schema.ts'
import { selectable } from './webhooks.ts'

const urlLimit = 2_000
/** Stricter than URL, which repairs much. */
const urlPattern = /^https?:\/\/[^\s/?#@\\]+(?:[/?][^\s#\\]*)?$/

/** Its form. Where it leads is checked before it is stored, and whenever something is sent. */
const urlField: Field<string> = {
  schema: text(
    'Where the events are sent: an https address with any port and no user name, password or fragment. http is for addresses within WEBHOOK_NETWORKS.',
    'https://erp.example.com/hooks/countersign',
    { format: 'uri', maxLength: urlLimit, pattern: urlPattern.source },
  ),
  read(value) {
    if (typeof value !== 'string') return new Fault('type', 'must be a string.')
    if (codePoints(value) > urlLimit) return new Fault('length', `must have at most ${urlLimit} characters.`)
    const url = URL.parse(value)
    if (url === null || !['https:', 'http:'].includes(url.protocol)) {
      return new Fault('format', 'must be an https address, such as https://erp.example.com/hooks.')
    }
    if (url.username + url.password !== '') {
      return new Fault('credentials', 'must not have a user name or a password.')
    }
    if (value.includes('#')) return new Fault('fragment', 'must not have a fragment.')
    return urlPattern.test(value)
      ? url.href
      : new Fault('format', 'must begin with https:// and have no spaces and no backslash.')
  },
}

const eventsField: Field<string[]> = {
  schema: Type.Array(Type.Unsafe<string>({ type: 'string', enum: [...selectable] }), {
    minItems: 1,
    uniqueItems: true,
    description:
      'Which events are sent: all of a kind of subject (`order`), or those of one kind (`order.approved`). Later versions will have more. `log.log-restored` is always sent.',
    examples: [['order.approved', 'order.rejected']],
  }),
  read(value) {
    if (!Array.isArray(value)) return new Fault('type', 'must be a list.')
    if (value.length === 0) return new Fault('length', 'must have at least 1 entry.')
    if (!value.every((name) => selectable.includes(name))) {
      return new Fault('enum', `must only have entries of ${selectable.join(', ')}.`)
    }
    return new Set(value).size === value.length ? value : new Fault('repeated', 'must not repeat an entry.')
  },
}

const enabledField = booleanField(
  'Whether events are sent. One that is disabled keeps its place, and continues there.',
  true,
)

const optional = <T>(field: Field<T>): Field<T | null> => ({ ...field, isOptional: true })

export const AddWebhookCommand = exactBodyOf('AddWebhookCommand', 'A new webhook.', {
  url: urlField,
  events: eventsField,
  enabled: optional({
    ...enabledField,
    schema: { ...enabledField.schema, default: true },
  }),
})

export const ChangeWebhookCommand = changeBodyOf('ChangeWebhookCommand', {
  url: optional(urlField),
  events: optional(eventsField),
  enabled: optional(enabledField),
})

export const RotateWebhookSecretCommand = exactBodyOf(
  'RotateWebhookSecretCommand',
  'How to replace the secret.',
  {
    dropOld: optional(
      booleanField(
        'Whether the previous secret ends at once; false if left out, and then it signs too for 24 hours.',
        false,
      ),
    ),
  },
)

export const ReplayWebhookCommand = exactBodyOf('ReplayWebhookCommand', 'From where to send again.', {
  from: positiveInt32Field('The sequence of the first event that is sent again.', 1043),
})

const id = text('Id of the webhook.', '019a9d2e-5b7c-7f3a-9c41-6d2f8e0b1a57', { format: 'uuid' })
const secret = text(
  'The secret that verifies `v1` signatures. Shown once, and not stored.',
  'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
)
const publicKeys = Type.Array(Type.String(), {
  description:
    'Public keys that verify `v1a` signatures (Ed25519), the newest first: two for 24 hours after a rotation. Empty if the service has no key for webhooks.',
  examples: [['whpk_UpXGhvs0RuyI2MKKxXcMcKUdfWTVnPKBhtvGDxqaPzk=']],
})

export const AddWebhookResponse = answerOf('AddWebhookResponse', undefined, { id, secret, publicKeys })
export const RotateWebhookSecretResponse = answerOf('RotateWebhookSecretResponse', undefined, {
  secret,
  publicKeys,
})

const sequence = (description: string, example: number) =>
  Type.Unsafe<number>({ type: 'integer', minimum: 0, description, examples: [example] })

export const Webhook = answerOf('Webhook', 'An address that is sent events of the log, in its order.', {
  id,
  url: text('Where the events are sent.', 'https://erp.example.com/hooks/countersign'),
  events: Type.Array(Type.String(), {
    description: 'Which events are sent.',
    examples: [['order.approved', 'order.rejected']],
  }),
  enabled: flag('Whether events are sent.', true),
  disabledBecause: nullable(
    'string',
    'Why the service disabled it: `failing` after three days without an answer of success, `gone` after an answer of 410. Null if it did not.',
    null,
  ),
  publicKeys,
  previousSecretUntilUtc: nullable(
    'string',
    'Until when the secret before the newest signs too; null if only the newest does.',
    null,
    { format: 'date-time' },
  ),
  sequence: sequence('It has every event that it asks for, up to this place in the log.', 1042),
  waiting: sequence('Events of the log after that place, whether it asks for them or not.', 0),
  failures: int32('Attempts at the next event that have failed; 0 if it is not failing.', 0),
  failingSinceUtc: nullable('string', 'Since when; null if it is not failing.', null, {
    format: 'date-time',
  }),
  nextAttemptAtUtc: nullable('string', 'When the next event is tried again; null for at once.', null, {
    format: 'date-time',
  }),
  createdAtUtc: instant('When it was created.', '2026-11-20T10:00:00.000Z'),
})

export const PaginatedListOfWebhook = pageSchema('PaginatedListOfWebhook', Webhook)

export const WebhookDelivery = answerOf('WebhookDelivery', 'An attempt to send an event.', {
  eventId: text(
    'The `webhook-id`: the id of the event, and for a replay its number after `_`.',
    '019a9d2e-5b7c-7f3a-9c41-6d2f8e0b1a58',
  ),
  type: text('The type of the event; `ping` for a trial.', 'order.approved'),
  sequence: nullable('integer', 'Place of the event in the log; null for a trial.', 1043),
  atUtc: instant('When it was sent.', '2026-11-20T10:00:00.000Z'),
  durationMilliseconds: int32('How long it took, from the look-up of the name to the end of the answer.', 87),
  status: nullable('integer', 'The status that the receiver answered; null without an answer.', 204),
  failure: nullable('string', 'Why the event counts as not delivered; null if it was delivered.', null),
  answer: nullable(
    'string',
    'The first 200 characters of the answer, without those that control or reorder text; null without an answer.',
    '',
  ),
})

export const PaginatedListOfWebhookDelivery = pageSchema('PaginatedListOfWebhookDelivery', WebhookDelivery)
