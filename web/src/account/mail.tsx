import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useAction } from '../auth/action.ts'
import { announce } from '../ui/announce.ts'
import { Check } from '../ui/check.tsx'
import { EndNote, Unread } from '../ui/failure.tsx'
import { Form, Submit } from '../ui/form.tsx'
import { Section } from '../ui/section.tsx'
import { Segments } from '../ui/segments.tsx'
import { ownMailQuery, type OwnMail as Settings, setOwnMail } from './queries.ts'

const waitingChoices = [
  { label: 'At once', value: 'at-once' },
  { label: 'Once a day', value: 'daily' },
  { label: 'Never', value: 'never' },
] as const

const hours = Array.from({ length: 24 }, (_, hour) => hour)

/** The person's mail about orders: which kinds, and when. */
export function OwnMail() {
  const query = useQuery(ownMailQuery)
  const { data } = query
  return (
    <Section title="Mail" className="mail-settings">
      <Unread query={query} />
      {data && <MailForm settings={data} />}
    </Section>
  )
}

function MailForm({ settings: { timeZone, ...settings } }: { settings: Settings }) {
  const [wanted, setWanted] = useState(settings)
  const saving = useAction(
    () => setOwnMail(wanted),
    () => announce('Mail settings saved'),
  )
  return (
    <Form className="stack" onSubmit={() => saving.isPending || saving.act()}>
      <p className="soft">You’re always mailed when your password, a passkey or your email changes.</p>
      <h3>Orders that wait for your approval</h3>
      <Segments
        name="waiting"
        legend="Mail about orders that wait for your approval"
        options={waitingChoices}
        value={wanted.waiting}
        onChoose={(waiting) => setWanted({ ...wanted, waiting })}
      />
      {wanted.waiting === 'daily' && (
        <div className="field">
          <label htmlFor="mail-hour">Time</label>
          <select
            id="mail-hour"
            className="input"
            value={wanted.hour}
            onChange={({ target }) => setWanted({ ...wanted, hour: Number(target.value) })}
          >
            {hours.map((hour) => (
              <option key={hour} value={hour}>{`${String(hour).padStart(2, '0')}:00`}</option>
            ))}
          </select>
          <p className="field-hint">In the time zone of your account, {timeZone.replaceAll('_', ' ')}.</p>
        </div>
      )}
      <h3>Your own orders</h3>
      <Check isOn={wanted.decided} onTurn={(decided) => setWanted({ ...wanted, decided })}>
        Mail me when an order I created is approved or rejected
      </Check>
      <h3>Notes</h3>
      <Check isOn={wanted.noted} onTurn={(noted) => setWanted({ ...wanted, noted })}>
        Mail me when someone adds a note to an order I created, approved or noted
      </Check>
      <div role="status">{saving.error != null && <EndNote failure={saving.error} />}</div>
      <div className="row">
        <Submit isClosed={saving.isPending}>Save</Submit>
      </div>
    </Form>
  )
}
