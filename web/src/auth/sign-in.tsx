import './sign-in.css'
import { Navigate, useSearch } from '@tanstack/react-router'
import { type ComponentProps, useEffect, useRef } from 'react'
import { problemOf } from '../api/problem.ts'
import { Form, Submit } from '../ui/form.tsx'
import mark from '../ui/mark.svg'
import { Note } from '../ui/note.tsx'
import { PageTitle } from '../ui/page-title.tsx'
import { passwordFailure, selectAll, usePasswordRequest } from './password.ts'
import { type Ending, NoCookieError, signIn, startSession, useSession } from './session.ts'

const endings: Record<Ending, string> = {
  expired: 'Your session has ended. Sign in to pick up where you left off.',
  'signed-out': 'You are signed out.',
  'signed-out-elsewhere': 'You were signed out in another tab.',
}

/** Signing in leads back to where the person was: `to`, an address within this app. */
export function SignInView() {
  const session = useSession()
  const { to } = useSearch({ from: '/sign-in' })
  useEffect(startSession, [])
  if (session.kind === 'signed-in') return <Navigate to={to} replace />
  return (
    <main className="sign-in">
      <SignInForm ending={session.kind === 'anonymous' ? session.ending : undefined} />
    </main>
  )
}

function SignInForm({ ending }: { ending: Ending | undefined }) {
  const email = useRef<HTMLInputElement>(null)
  const password = useRef<HTMLInputElement>(null)
  const signing = usePasswordRequest({ send: signIn, onFailure: () => selectAll(password.current) })
  useEffect(() => email.current?.focus(), [])

  function submit(form: HTMLFormElement) {
    const entered = new FormData(form)
    signing.submit({ email: String(entered.get('email')).trim(), password: String(entered.get('password')) })
  }

  return (
    <Form className="card stack sign-in-card" onSubmit={submit} aria-describedby="sign-in-ending">
      <div className="sign-in-brand">
        <img src={mark} alt="" width="40" height="40" />
        <PageTitle title="Sign in">Sign in to Countersign</PageTitle>
      </div>
      {ending && (
        <p id="sign-in-ending" className="note">
          {endings[ending]}
        </p>
      )}
      <Field ref={email} name="email" label="Email" autoComplete="username" maxLength={254} />
      <Field
        ref={password}
        name="password"
        label="Password"
        autoComplete="current-password"
        maxLength={512}
      />
      <div id="sign-in-failure" role="alert">
        {signing.isError && <Note kind="bad">{wordsFor(signing.error)}</Note>}
      </div>
      <Submit isClosed={signing.isClosed}>{signing.label('Sign in', 'Signing in …')}</Submit>
      <p className="soft small">Forgot your password? Ask an administrator for a link to set a new one.</p>
    </Form>
  )
}

interface FieldProps extends ComponentProps<'input'> {
  name: 'email' | 'password'
  label: string
}

function Field({ name, label, ...rest }: FieldProps) {
  return (
    <div className="field">
      <label htmlFor={name}>{label}</label>
      <input id={name} name={name} type={name} required aria-describedby="sign-in-failure" {...rest} />
    </div>
  )
}

function wordsFor(failure: unknown): string {
  if (problemOf(failure, 'invalid-credentials')) return 'Wrong email or password.'
  if (failure instanceof NoCookieError) {
    return 'Your browser did not keep you signed in. Allow cookies for this site, and open it at its https address.'
  }
  const invalid = problemOf(failure, 'validation-failed')
  if (invalid) {
    return (invalid.errors ?? []).map(({ pointer, detail }) => `${pointer?.slice(2)} ${detail}`).join(' ')
  }
  return passwordFailure(failure)
}
