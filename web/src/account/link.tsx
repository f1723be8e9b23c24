import { useMutation } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { type ComponentType, useEffect, useState } from 'react'
import { Button } from 'react-aria-components/Button'
import { client } from '../api/client.ts'
import { problemOf } from '../api/problem.ts'
import { companyName, linkByOneTimeLink } from '../auth/company.ts'
import { signIn } from '../auth/session.ts'
import { announce } from '../ui/announce.ts'
import { CardPage } from '../ui/card-page.tsx'
import { endInWords } from '../ui/describe.ts'
import { Form, Submit } from '../ui/form.tsx'
import { Input } from '../ui/input.tsx'
import { Note } from '../ui/note.tsx'
import { refusalOf } from './change-password.tsx'
import { NewPassword } from './new-password.tsx'

/** Where a one-time link leads: sets the password and signs in. */
export function LinkView() {
  return <LinkPage title="Set your password" form={LinkForm} broken={BrokenLink} />
}

/** A page of what a link says, or of why it does not work: it says so before anything is typed. */
export function LinkPage({ title, ...views }: LinkViews & { title: string }) {
  const link = useLinkParts()
  return (
    <CardPage title={title}>
      {link ? <CheckedLink key={link.token} link={link} {...views} /> : <views.broken />}
    </CardPage>
  )
}

interface LinkViews {
  form: ComponentType<LinkParts>
  broken: ComponentType
}

function CheckedLink({ link, form: LinkedForm, broken: Broken }: LinkViews & { link: LinkParts }) {
  const { token } = link
  const [state, setState] = useState<'unknown' | 'works' | 'broken'>('unknown')
  // Not a query: those of the start are forgotten once it is known who is signed in.
  useEffect(() => {
    client.POST('/v1/auth/links/check', { body: { token } }).then(
      () => setState('works'),
      // If the check failed for another reason, the use of the link says why.
      (failure) => setState(problemOf(failure, 'link-not-found') ? 'broken' : 'works'),
    )
  }, [token])
  if (state === 'unknown') return <p role="status">Checking the link …</p>
  return state === 'broken' ? <Broken /> : <LinkedForm {...link} />
}

export interface LinkParts {
  token: string
  email: string
}

/** The parts of the opened link; undefined if it is incomplete. */
function useLinkParts(): LinkParts | undefined {
  const [link, setLink] = useState(readLink)
  // Opening another link in this tab does not reload the page.
  useEffect(() => {
    const readAgain = () => setLink(readLink)
    addEventListener('hashchange', readAgain)
    return () => removeEventListener('hashchange', readAgain)
  }, [])
  return link
}

/** Reads the part after the `#`, which the browser has not sent. */
function readLink(): LinkParts | undefined {
  const { token, email } = Object.fromEntries(new URLSearchParams(location.hash.slice(1)))
  return token && email ? { token, email } : undefined
}

function LinkForm({ token, email }: LinkParts) {
  const navigate = useNavigate()
  const [newPassword, setNew] = useState('')
  const setting = useMutation({
    mutationFn: async () => {
      await client.POST('/v1/auth/links/use', { body: { token, newPassword } })
      // The password is set even if the sign-in fails.
      await signIn({ email, password: newPassword }).catch(() =>
        announce('Your password has been set. Sign in with it.'),
      )
    },
    // The link is used up, so its address does not stay in the history.
    onSuccess: () => navigate({ to: '/', replace: true }),
    gcTime: 0,
  })
  const linking = useMutation({ mutationFn: () => linkByOneTimeLink(token), gcTime: 0 })
  if (problemOf(setting.error ?? linking.error, 'link-not-found')) return <BrokenLink />
  const refusal = refusalOf(setting.error)

  return (
    <Form className="stack" onSubmit={() => setting.isPending || setting.mutate()}>
      <Input label="Email" type="email" autoComplete="username" value={email} readOnly />
      <NewPassword
        value={newPassword}
        names={[email]}
        refusal={refusal}
        onChange={(value) => {
          setNew(value)
          if (!setting.isPending) setting.reset()
        }}
      />
      <div role="alert">
        {setting.isError && refusal === undefined && <Note kind="bad">{endInWords(setting.error)}</Note>}
        {linking.isError && <Note kind="bad">{endInWords(linking.error)}</Note>}
      </div>
      <Submit isClosed={setting.isPending}>
        {setting.isPending ? 'Setting …' : 'Set password and sign in'}
      </Submit>
      {companyName !== undefined && (
        <Button className="button" onPress={() => linking.mutate()}>
          Link company account instead
        </Button>
      )}
    </Form>
  )
}

export function BrokenLink({
  used = 'If you have set your password already, perhaps by the other link of your invitation, just sign in.',
}) {
  return (
    <>
      <Note
        kind="warning"
        role="status"
        title="The link is not valid"
        lines={[
          used,
          'A link works once, within 24 hours, until a newer one is created, and until its maker is signed out by someone else. Ask for a new link if you need one.',
        ]}
      />
      <Link to="/sign-in" search={{ to: '/' }} className="button">
        Sign in
      </Link>
    </>
  )
}
