import { useState } from 'react'
import { useAction } from '../auth/action.ts'
import { EndNote } from '../ui/failure.tsx'
import { Form, Submit } from '../ui/form.tsx'
import { Input } from '../ui/input.tsx'
import { Note } from '../ui/note.tsx'
import { Section } from '../ui/section.tsx'
import { requestEmail } from './queries.ts'

/** Asks for another email, which counts once a link that is mailed to it is used. */
export function EmailForm() {
  const [email, setEmail] = useState('')
  const asking = useAction(requestEmail, () => setEmail(''))
  return (
    <Section title="Email">
      <Form className="stack" onSubmit={() => asking.act(email.trim())}>
        <p className="soft">We’ll mail a link to the new address. Nothing changes until you open it.</p>
        <Input
          label="New email"
          name="new-email"
          type="email"
          autoComplete="off"
          maxLength={254}
          missing="Enter the new email."
          value={email}
          onChange={({ target }) => setEmail(target.value)}
        />
        <div role="status">
          {asking.error != null && <EndNote failure={asking.error} />}
          {asking.isSuccess && (
            <Note
              kind="waiting"
              title="Check your mail"
              lines={[
                `A link is on its way to ${asking.variables}. It can take a minute.`,
                'An account gets at most three of these mails in an hour.',
              ]}
            />
          )}
        </div>
        <div className="row">
          <Submit isClosed={asking.isPending}>{asking.isPending ? 'Sending …' : 'Send link'}</Submit>
        </div>
      </Form>
    </Section>
  )
}
