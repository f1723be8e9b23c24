import { Link } from '@tanstack/react-router'
import { Check } from '../../ui/check.tsx'
import { AddForm } from '../add.tsx'
import { WebhooksFrame } from '../frame.tsx'
import type { Fields } from '../judged.tsx'
import { ShownOnce } from '../pieces.tsx'
import { judgedFields, webhookFields } from './fields.tsx'
import { addWebhook, type NewWebhook } from './queries.ts'

const blank: NewWebhook = { url: '', events: ['order'], enabled: true }

const fields: Fields<NewWebhook> = ({ value, onChange, refusals }) => (
  <>
    {webhookFields({ value, refusals, onChange: (next) => onChange({ ...value, ...next }) })}
    <Check isOn={value.enabled} onTurn={(enabled) => onChange({ ...value, enabled })}>
      Enabled
    </Check>
  </>
)

/** A new webhook, whose secret is shown once. */
export function AddWebhookView() {
  return (
    <AddForm
      Frame={WebhooksFrame}
      title="Add webhook"
      lead="It receives events from now on, and its secret is shown only once."
      blank={blank}
      fields={fields}
      names={judgedFields}
      action={['Add', 'Adding …']}
      cancelTo="/webhooks"
      send={addWebhook}
    >
      {({ id, secret }) => (
        <>
          <p>The webhook has been added.</p>
          <WebhookSecretShown secret={secret} />
          <div className="row">
            <Link className="button" to="/webhooks/$id" params={{ id }}>
              Open the webhook
            </Link>
          </div>
        </>
      )}
    </AddForm>
  )
}

export function WebhookSecretShown({ secret }: { secret: string }) {
  return (
    <ShownOnce label="Secret" text={secret}>
      <p>
        Put it where the receiver verifies signatures. It is not stored here, so it cannot be shown again.
      </p>
    </ShownOnce>
  )
}
