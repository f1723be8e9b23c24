import './sign-in.css'
import { useMutation } from '@tanstack/react-query'
import { Navigate, useSearch } from '@tanstack/react-router'
import { type ComponentProps, type FormEvent, useEffect, useRef } from 'react'
import { ProblemError, problemOf } from '../api/problem.ts'
import { endInWords } from '../ui/describe.ts'
import mark from '../ui/mark.svg'
import { Note } from '../ui/note.tsx'
import { PageTitle } from '../ui/page-title.tsx'
import { type Ending, NoCookieError, signIn, startSession, useSession } from './session.ts'
import { useWait, waitingWords } from './wait.ts'

const endings: Record<Ending, string> = {
  expired: 'Your session has ended. Sign in to pick up where you left off.',
  'signed-out': 'You are signed out.',
  'signed-out-elsewhere': 'You were signed out in another tab.',
}

/** The way in; leads back to where one was (`to`, an address within this app). */
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
  const wait = useWait()
  const mutation = useMutation({
    mutationFn: signIn,
    onError(failure) {
      if (failure instanceof ProblemError) wait.start(failure.retryAfterMilliseconds ?? 0)
      password.current?.focus()
      password.current?.select()
    },
    // Nothing keeps the password once the answer is there.
    gcTime: 0,
  })
  useEffect(() => email.current?.focus(), [])
  const isClosed = mutation.isPending || wait.seconds > 0

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    if (isClosed) return
    const entered = new FormData(event.currentTarget)
    mutation.mutate({ email: String(entered.get('email')).trim(), password: String(entered.get('password')) })
  }

  return (
    <form className="card stack sign-in-card" onSubmit={submit} aria-describedby="sign-in-ending">
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
        {mutation.isError && <Note kind="bad">{wordsFor(mutation.error)}</Note>}
      </div>
      {/* Not disabled, so that it keeps the focus; `submit` lets nothing through meanwhile. */}
      <button type="submit" className="button button-primary" aria-disabled={isClosed}>
        {mutation.isPending ? 'Signing in …' : waitingWords('Sign in', wait.seconds)}
      </button>
      <p className="soft small">Forgot your password? Ask an administrator for a link to set a new one.</p>
    </form>
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
  if (problemOf(failure, 'too-many-attempts', 'rate-limited')) {
    return 'Too many attempts. The button shows when you can try again.'
  }
  if (failure instanceof NoCookieError) {
    return 'Your browser did not keep you signed in. Allow cookies for this site, and open it at its https address.'
  }
  const invalid = problemOf(failure, 'validation-failed')
  if (invalid) {
    return (invalid.errors ?? []).map(({ pointer, detail }) => `${pointer?.slice(2)} ${detail}`).join(' ')
  }
  return endInWords(failure)
}
