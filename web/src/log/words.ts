import type { eventKinds } from '../../../client/src/facts.ts'
import { type EventWords, eventWords } from '../orders/states.ts'
import { formatCount, formatTotal } from '../ui/format.ts'
import type { LogEvent } from './queries.ts'

type Data = LogEvent['data']

/** Everything that an event says, by name, without erased values. */
export function factsOf({ data, clear }: Pick<LogEvent, 'data' | 'clear'>): Data {
  const kept = Object.entries(clear).filter(([, { value }]) => value !== null)
  return { ...data, ...Object.fromEntries(kept.map(([name, { value }]) => [name, value])) }
}

interface KindWords extends EventWords {
  /** After the name of the subject: `admin` added roles to `jo` **(Viewer)**. */
  more?(data: Data): string
  /** Set if the event can only be about a user, or only about a service. */
  account?: 'user' | 'service'
}

const list = (value: unknown) => (Array.isArray(value) ? value.map(String).join(', ') : '')
const inBrackets = (value: unknown) => (list(value) === '' ? '' : `(${list(value)})`)
const rolesOf = ({ roles }: Data) => inBrackets(roles)
const permissionsOf = ({ permissions }: Data) => inBrackets(permissions)

function changesOf(data: Data): string {
  const parts = [
    data.formerName !== undefined && `formerly ${data.formerName}`,
    data.printedName !== undefined && `full name ${data.printedName ?? 'none'}`,
    data.email !== undefined && 'new email',
    data.timeZone !== undefined && `time zone ${data.timeZone ?? 'none'}`,
    data.displayName !== undefined && `name ${data.displayName ?? 'none'}`,
    data.endsAtUtc !== undefined && `expires ${data.endsAtUtc ?? 'never'}`,
    data.ownerId !== undefined && `owner ${data.owner ?? data.ownerId ?? 'none'}`,
    list(data.granted) !== '' && `added ${list(data.granted)}`,
    list(data.revoked) !== '' && `removed ${list(data.revoked)}`,
    data.enabled !== undefined && (data.enabled ? 'enabled' : 'disabled'),
  ]
  return parts.filter((part) => part !== false).join('; ')
}

function permissionChangesOf({ allowed, denied }: Data): string {
  const parts = [
    list(allowed) !== '' && `added ${list(allowed)}`,
    list(denied) !== '' && `removed ${list(denied)}`,
  ]
  return parts.filter((part) => part !== false).join('; ')
}

function passkeyOf({ passkeyName }: Data): string {
  return passkeyName === undefined ? '' : `named ${passkeyName}`
}

function deliveryOf({ events, enabled }: Data): string {
  return [inBrackets(events), enabled === false && 'disabled'].filter(Boolean).join(', ')
}

const ofUser = { account: 'user' } as const
const ofService = { account: 'service' } as const

type Kind<Subject extends keyof typeof eventKinds> = (typeof eventKinds)[Subject][number]

interface KindsBySubject {
  Orders: Record<Kind<'order'>, KindWords>
  Accounts: Record<Kind<'account'>, KindWords>
  Roles: Record<Kind<'role'>, KindWords>
  Webhooks: Record<Kind<'webhook'>, KindWords>
  Others: Record<Kind<'policy' | 'log'>, KindWords>
}

/** Every kind that this version knows, by subject. */
export const kindsBySubject: Record<string, Record<string, KindWords>> = {
  Orders: eventWords,
  Accounts: {
    'user-added': { label: 'User added', verb: 'added the user', more: rolesOf, ...ofUser },
    'user-changed': { label: 'User changed', verb: 'changed the user', more: changesOf, ...ofUser },
    'client-added': {
      label: 'Service added',
      verb: 'added the service',
      more: (data) => [rolesOf(data), changesOf(data)].filter(Boolean).join(', '),
      ...ofService,
    },
    'client-changed': {
      label: 'Service changed',
      verb: 'changed the service',
      more: changesOf,
      ...ofService,
    },
    enabled: { label: 'Account enabled', verb: 'enabled the account' },
    disabled: { label: 'Account disabled', verb: 'disabled the account' },
    'roles-granted': { label: 'Roles added', verb: 'added roles to', more: rolesOf },
    'roles-revoked': { label: 'Roles removed', verb: 'removed roles from', more: rolesOf },
    'password-set': { label: 'Password set', verb: 'set the password of', ...ofUser },
    'password-changed': { label: 'Own password changed', verb: 'changed the password of', ...ofUser },
    'link-made': { label: 'One-time link created', verb: 'created a one-time link for', ...ofUser },
    'link-used': { label: 'One-time link used', verb: 'set a password with the one-time link of', ...ofUser },
    'sign-in-ended': { label: 'Sign-in ended', verb: 'ended a sign-in of', ...ofUser },
    'others-signed-out': {
      label: 'Other sign-ins ended',
      verb: 'ended all other sign-ins of',
      ...ofUser,
    },
    'signed-out': { label: 'Signed out everywhere', verb: 'ended all sign-ins of', ...ofUser },
    'everybody-signed-out': { label: 'Everyone signed out', verb: 'ended all sign-ins of' },
    'secret-rotated': {
      label: 'Secret replaced',
      verb: 'created a new secret for',
      more: ({ dropped }) => (Number(dropped) > 0 ? 'and ended the earlier ones' : ''),
      ...ofService,
    },
    'secrets-dropped': { label: 'Old secrets ended', verb: 'ended the earlier secrets of', ...ofService },
    'absence-set': {
      label: 'Absence set',
      verb: 'set the absence of',
      more: ({ deputy, deputyId }) => `with ${deputy ?? `account ${deputyId}`} as deputy`,
      ...ofUser,
    },
    'passkey-added': { label: 'Passkey added', verb: 'added a passkey to', more: passkeyOf, ...ofUser },
    'passkey-renamed': {
      label: 'Passkey renamed',
      verb: 'renamed a passkey of',
      more: passkeyOf,
      ...ofUser,
    },
    'passkey-removed': { label: 'Passkey removed', verb: 'removed a passkey of', ...ofUser },
    'password-removed': { label: 'Password removed', verb: 'removed the password of', ...ofUser },
    'company-linked': { label: 'Company account linked', verb: 'linked a company account to', ...ofUser },
    'company-unlinked': {
      label: 'Company account unlinked',
      verb: 'unlinked the company account of',
      ...ofUser,
    },
    'absence-ended': { label: 'Absence ended', verb: 'ended the absence of', ...ofUser },
  },
  Roles: {
    'role-added': { label: 'Role added', verb: 'added the role', more: permissionsOf },
    'role-removed': { label: 'Role removed', verb: 'removed the role', more: permissionsOf },
    'permissions-allowed': {
      label: 'Permissions added',
      verb: 'added permissions to the role',
      more: permissionsOf,
    },
    'permissions-denied': {
      label: 'Permissions removed',
      verb: 'removed permissions from the role',
      more: permissionsOf,
    },
    'permissions-set': {
      label: 'Permissions changed',
      verb: 'changed the permissions of the role',
      more: permissionChangesOf,
    },
  },
  Webhooks: {
    'webhook-added': { label: 'Webhook added', verb: 'added', more: deliveryOf },
    'webhook-changed': { label: 'Webhook changed', verb: 'changed', more: deliveryOf },
    'webhook-removed': { label: 'Webhook removed', verb: 'removed' },
    'webhook-disabled': {
      label: 'Webhook disabled',
      verb: 'disabled',
      more: ({ because }) => (because === 'gone' ? 'because it is gone' : 'after three days of failures'),
    },
    'webhook-secret-rotated': { label: 'Webhook secret replaced', verb: 'created a new secret for' },
    'webhook-replayed': {
      label: 'Webhook replayed',
      verb: 'replayed',
      more: ({ from }) => `from log entry #${formatCount(Number(from))}`,
    },
  },
  Others: {
    'policy-set': { label: 'Approval policy replaced', verb: 'replaced' },
    erased: {
      label: 'Erased',
      verb: 'erased part of',
      more: ({ erased }) => `(${Object.keys(Object(erased)).join(', ')})`,
    },
    'log-restored': {
      label: 'Database restored',
      verb: 'restored the database as it was after',
      more: ({ era }) => `and began era ${era} of the log`,
    },
  },
} satisfies KindsBySubject

const kinds: Record<string, KindWords> = Object.assign({}, ...Object.values(kindsBySubject))

/** An unknown kind keeps its name. */
export function wordsOf(kind: string): KindWords {
  return Object.hasOwn(kinds, kind) && kinds[kind] ? kinds[kind] : { label: kind, verb: `${kind}:` }
}

/** The subject of the event, as part of a sentence. */
export function subjectInWords(event: Pick<LogEvent, 'subject' | 'data' | 'clear'>): string {
  const { kind, id } = event.subject
  const data = factsOf(event)
  if (kind === 'order') return orderInWords(data)
  if (kind === 'policy') return 'the approval policy'
  if (kind === 'log') return /^\d+$/.test(id) ? `log entry #${formatCount(Number(id))}` : id
  if (kind === 'webhook') return `the webhook for ${data.origin}`
  if (kind === 'account' && id === '*') return `${formatCount(Number(data.users))} users`
  return kind === 'account' ? String(data.name ?? `account ${id}`) : id
}

function orderInWords({ customer, total }: Data): string {
  if (typeof total !== 'string') return 'an order'
  if (typeof customer !== 'string') return `an order, ${formatTotal(total as `${number}`)}`
  return `the order for ${customer}, ${formatTotal(total as `${number}`)}`
}

/** The subject in an address, in words: `order:019a...` as `order 019a...`. */
export function subjectOfAddress(subject: string): string {
  return subject === 'policy:approval' ? 'the approval policy' : subject.replace(':', ' ')
}
