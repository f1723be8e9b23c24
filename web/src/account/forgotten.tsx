import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { client } from '../api/client.ts'
import { sendsMail } from '../auth/mail.ts'
import { CardPage } from '../ui/card-page.tsx'
import { endInWords } from '../ui/describe.ts'
import { Form, Submit } from '../ui/form.tsx'
import { Input } from '../ui/input.tsx'
import { Note } from '../ui/note.tsx'

/** Asks for a link by mail. The answer is the same whether or not an account has the address. */
export function ForgottenView() {
  const asking = useMutation({
    mutationFn: (email: string) => client.POST('/v1/auth/links', { body: { email } }),
  })
  return (
    <CardPage title="Forgot your password?">
      {!sendsMail ? (
        <Note
          kind="warning"
          role="status"
          title="This service sends no mail"
          lines={['Ask an administrator for a link to set a new password.']}
        />
      ) : asking.isSuccess ? (
        <Note
          kind="waiting"
          role="status"
          title="Check your mail"
          lines={[
            'If an account has this address, a mail is on its way. It can take a minute.',
            'An account gets at most three of these mails in an hour.',
          ]}
        />
      ) : (
        <Form
          className="stack"
          onSubmit={(form) =>
            asking.isPending || asking.mutate(String(new FormData(form).get('email')).trim())
          }
        >
          <p>We’ll mail you a link to set a new one.</p>
          <Input
            label="Email"
            name="email"
            type="email"
            autoComplete="username"
            maxLength={254}
            missing="Enter your email."
            autoFocus
            aria-describedby="forgotten-failure"
          />
          <div id="forgotten-failure" role="alert">
            {asking.isError && <Note kind="bad">{endInWords(asking.error)}</Note>}
          </div>
          <Submit isClosed={asking.isPending}>{asking.isPending ? 'Sending …' : 'Send link'}</Submit>
        </Form>
      )}
      <Link to="/sign-in" search={{ to: '/' }} className="button">
        Back to sign-in
      </Link>
    </CardPage>
  )
}
