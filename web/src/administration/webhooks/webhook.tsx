import { useParams } from '@tanstack/react-router'
import { Button } from 'react-aria-components/Button'
import { useAction } from '../../auth/action.ts'
import { announce } from '../../ui/announce.ts'
import { Unread } from '../../ui/failure.tsx'
import { Section } from '../../ui/section.tsx'
import { WebhooksFrame } from '../frame.tsx'
import { EditForm } from '../page.tsx'
import { Refused } from '../pieces.tsx'
import { Deliveries } from './deliveries.tsx'
import { judgedFields, webhookFields } from './fields.tsx'
import { changeWebhook, pingWebhook, switchWebhook, useWebhook, type Webhook } from './queries.ts'
import { Removal } from './removal.tsx'
import { Replay } from './replay.tsx'
import { Secret } from './secret.tsx'
import { Sign } from './sign.tsx'
import { outcomeInWords, stateInWords } from './words.ts'

const webhooks = { to: '/webhooks', name: 'Webhooks' } as const

/** One webhook: its state and fields, its last deliveries, what is rarely needed, and its removal. */
export function WebhookView() {
  const { id = '' } = useParams({ strict: false })
  const query = useWebhook(id)
  const { data } = query
  return (
    <WebhooksFrame title={data ? new URL(data.webhook.url).host : 'Webhook'} back={webhooks}>
      <Unread query={query} />
      {data && (
        <>
          <State key={`state ${id}`} {...data} />
          <Details key={`details ${id}`} {...data} />
          <Deliveries id={id} url={data.webhook.url} />
          <details className="admin-advanced">
            <summary className="label">Advanced: send again, keys and secret</summary>
            <div className="stack gap-5">
              <Replay key={`replay ${id}`} webhook={data.webhook} />
              <Secret key={`secret ${id}`} webhook={data.webhook} />
            </div>
          </details>
          <Removal webhook={data.webhook} />
        </>
      )}
    </WebhooksFrame>
  )
}

interface WebhookProps {
  webhook: Webhook
  etag: string
}

function Details({ webhook: { id, url, events }, etag }: WebhookProps) {
  return (
    <EditForm
      title="Webhook"
      place={`webhook ${id}`}
      loaded={{ url, events }}
      etag={etag}
      fields={webhookFields}
      names={judgedFields}
      send={(values, tag) => changeWebhook(id, tag, values)}
    />
  )
}

/** The words after a press: what is shown by then may be the new state. */
const switched = {
  Enable: 'The webhook is enabled',
  Disable: 'The webhook is disabled',
  'Try again now': 'The next attempt comes at once',
}

/** How far it is, the switch, and a test. */
function State({ webhook, etag }: WebhookProps) {
  const { id, enabled, failures } = webhook
  const { lines, ...sign } = stateInWords(webhook)
  const switching = useAction(
    (pressed: keyof typeof switched) => switchWebhook(id, etag, pressed !== 'Disable'),
    (_, pressed) => announce(switched[pressed]),
  )
  const testing = useAction(() => pingWebhook(id))
  return (
    <Section title="State" aside={<Sign {...sign} />}>
      {lines.map((line) => (
        <p key={line}>{line}</p>
      ))}
      <Refused failure={testing.error ?? switching.error} />
      <div role="status">
        {testing.data && (
          <p>
            <Sign {...outcomeInWords(testing.data, webhook.url)} /> The test:{' '}
            {outcomeInWords(testing.data, webhook.url).more}.
          </p>
        )}
      </div>
      <div className="row">
        <Button className="button" onPress={() => testing.act()}>
          {testing.isPending ? 'Sending …' : 'Send a test'}
        </Button>
        {enabled && failures > 0 && (
          <Button className="button" onPress={() => switching.act('Try again now')}>
            Try again now
          </Button>
        )}
        <Button className="button" onPress={() => switching.act(enabled ? 'Disable' : 'Enable')}>
          {enabled ? 'Disable' : 'Enable'}
        </Button>
      </div>
    </Section>
  )
}
