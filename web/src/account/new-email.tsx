import '../auth/sign-in.css'
import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { client } from '../api/client.ts'
import { problemOf } from '../api/problem.ts'
import { endInWords } from '../ui/describe.ts'
import { Form, Submit } from '../ui/form.tsx'
import mark from '../ui/mark.svg'
import { Note } from '../ui/note.tsx'
import { PageTitle } from '../ui/page-title.tsx'
import { BrokenLink, type LinkParts, useLinkParts } from './link.tsx'

/** Where the link to a new email leads: one press confirms it. */
export function NewEmailView() {
  const link = useLinkParts()
  return (
    <main className="splash sign-in">
      <div className="card stack sign-in-card">
        <div className="sign-in-brand">
          <img src={mark} alt="" width="40" height="40" />
          <PageTitle title="Confirm your email" />
        </div>
        {link ? <Confirmation key={link.token} {...link} /> : <BrokenLink />}
      </div>
    </main>
  )
}

function Confirmation({ token, email }: LinkParts) {
  const confirming = useMutation({
    mutationFn: () => client.POST('/v1/auth/email/use', { body: { token } }),
    gcTime: 0,
  })
  if (problemOf(confirming.error, 'link-not-found')) return <BrokenLink />
  if (confirming.isSuccess)
    return (
      <>
        <p role="status">Your email has been changed. Sign in with {email} from now on.</p>
        <Link to="/account" className="button" replace>
          My account
        </Link>
      </>
    )
  return (
    <Form className="stack" onSubmit={() => confirming.isPending || confirming.mutate()}>
      <p>Make {email} the email of your account?</p>
      <div role="alert">{confirming.isError && <Note kind="bad">{endInWords(confirming.error)}</Note>}</div>
      <Submit isClosed={confirming.isPending}>
        {confirming.isPending ? 'Confirming …' : 'Confirm email'}
      </Submit>
    </Form>
  )
}
