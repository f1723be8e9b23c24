import { Link, Navigate, useSearch } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { Button } from 'react-aria-components/Button'
import { problemOf } from '../api/problem.ts'
import { CardPage } from '../ui/card-page.tsx'
import { Form, Submit } from '../ui/form.tsx'
import { formatCount } from '../ui/format.ts'
import { Input } from '../ui/input.tsx'
import { Name } from '../ui/name.tsx'
import { Note } from '../ui/note.tsx'
import { companyName, companySignIn, reasonFor } from './company.ts'
import { type DemoAccount, demoAccounts } from './demo.ts'
import { sendsMail } from './mail.ts'
import { knowsPasskeys, signInOptions, touch, touchFailure } from './passkeys.ts'
import { currentPassword, passwordFailure, selectAll, usePasswordRequest } from './password.ts'
import { type Ending, NoCookieError, signIn, startSession, useSession } from './session.ts'
import { leftOver, unsent } from './unsent.ts'

type Given = Parameters<typeof signIn>[0]
type Credential = Awaited<ReturnType<typeof touch>>

interface Attempt {
  isTouch: boolean
  give(): Promise<Given>
}

const endings: Record<Ending, string> = {
  expired: 'Your session has ended. Sign in to pick up where you left off.',
  'signed-out': 'You are signed out.',
  'signed-out-elsewhere': 'You were signed out in another tab.',
}

/** Only a sign-out takes the sheet from the tab. */
const goOnWords = (ending: Ending) =>
  `${ending === 'expired' ? 'Sign in' : 'Paste the sheet again'} to go on: nothing is created twice.`

/** Signing in leads back to where the person was: `to`, an address within this app. */
export function SignInView() {
  const session = useSession()
  const { to, company } = useSearch({ from: '/sign-in' })
  useEffect(startSession, [])
  if (session.kind === 'signed-in') {
    return company === undefined ? <Navigate to={to} replace /> : <NotDone to={to} code={company} />
  }
  return (
    <CardPage title="Sign in" heading="Sign in to Countersign">
      <SignInForm ending={session.kind === 'anonymous' ? session.ending : undefined} to={to} code={company} />
    </CardPage>
  )
}

/** A person who is signed in asked for something of a company account that failed. */
function NotDone({ to, code }: { to: string; code: string }) {
  return (
    <CardPage title="Company account">
      <Note kind="warning" role="status">
        {reasonFor(code)}
      </Note>
      <Link to={to} replace className="button">
        Continue
      </Link>
    </CardPage>
  )
}

interface SignInFormProps {
  ending: Ending | undefined
  to: string
  /** Why the company account did not sign the person in. */
  code: string | undefined
}

function SignInForm({ ending, to, code }: SignInFormProps) {
  const email = useRef<HTMLInputElement>(null)
  const password = useRef<HTMLInputElement>(null)
  const signing = usePasswordRequest({
    send: async ({ give }: Attempt) => signIn(await give()),
    onFailure: (failure) => touchFailure(failure) === undefined && selectAll(password.current),
  })
  const offer = useOffer((credential) =>
    signing.submit({ isTouch: true, give: async () => ({ credential }) }),
  )
  const done = leftOver.use()
  useEffect(() => email.current?.focus(), [])
  useEffect(() => () => leftOver.set(undefined), [])

  function submit(form: HTMLFormElement) {
    const entered = new FormData(form)
    const given = { email: String(entered.get('email')).trim(), password: String(entered.get('password')) }
    signing.submit({ isTouch: false, give: async () => given })
  }

  function askForPasskey() {
    offer.end()
    const give = async () => ({ credential: await touch(await signInOptions()) })
    signing.submit({ isTouch: true, give })
  }

  function enter(account: DemoAccount) {
    if (email.current) email.current.value = account.email
    if (password.current) password.current.value = account.password
    if (email.current?.form) submit(email.current.form)
  }

  return (
    <Form className="stack" onSubmit={submit} aria-describedby="sign-in-ending sign-in-unsent">
      {ending && (
        <p id="sign-in-ending" className="note">
          {endings[ending]}
          {done && ` ${done} ${goOnWords(ending)}`}
        </p>
      )}
      {code !== undefined && (
        <Note kind="bad" role="status">
          {reasonFor(code)}
        </Note>
      )}
      <Unsent />
      {companyName !== undefined && (
        <a className="button button-primary" href={companySignIn(to)}>
          Sign in with {companyName}
        </a>
      )}
      <Input
        ref={email}
        label="Email"
        name="email"
        type="email"
        autoComplete="username webauthn"
        maxLength={254}
        missing="Enter your email."
        aria-describedby="sign-in-failure"
      />
      <Input {...currentPassword} ref={password} aria-describedby="sign-in-failure" />
      <div id="sign-in-failure" role="alert">
        {signing.isError && <Note kind="bad">{wordsFor(signing.error, signing.variables?.isTouch)}</Note>}
      </div>
      <Submit isClosed={signing.isClosed} className={companyName && 'button'}>
        {signing.label('Sign in', 'Signing in …')}
      </Submit>
      {knowsPasskeys && (
        <Button className="button" onPress={askForPasskey}>
          Use a passkey
        </Button>
      )}
      {sendsMail ? (
        <Link to="/forgotten" className="small">
          Forgot your password?
        </Link>
      ) : (
        <p className="soft small">Forgot your password? Ask an administrator for a link to set a new one.</p>
      )}
      {demoAccounts.length > 0 && <DemoAccounts onChoose={enter} />}
    </Form>
  )
}

function DemoAccounts({ onChoose }: { onChoose(account: DemoAccount): void }) {
  return (
    <section className="stack gap-3 ruled" aria-labelledby="demo-accounts">
      <h2 id="demo-accounts" className="label">
        Demo accounts
      </h2>
      <div className="columns gap-2 demo-accounts">
        {demoAccounts.map((account) => (
          <Button key={account.email} className="button button-small" onPress={() => onChoose(account)}>
            {account.userName} <span className="soft">{account.role}</span>
          </Button>
        ))}
      </div>
    </section>
  )
}

function Unsent() {
  const { parts, userName } = unsent.use()
  const count = parts.reduce((sum, part) => sum + (part.isPatient ? part.count : 0), 0)
  if (count === 0) return null
  const [what, it] =
    count === 1 ? ['One decision has', 'it'] : [`${formatCount(count)} decisions have`, 'them']
  return (
    <Note kind="warning">
      <p id="sign-in-unsent">
        {what} not been sent. Sign in as <Name of={userName} /> to send {it}.
      </p>
    </Note>
  )
}

/** A challenge is valid for five minutes. */
const offerMilliseconds = 4 * 60_000

/** The browser offers passkeys in the form's first field, until `end` or until the form is left. */
function useOffer(onTouch: (credential: Credential) => void): { end(): void } {
  const running = useRef<AbortController>(undefined)
  const given = useRef(onTouch)
  given.current = onTouch
  useEffect(() => {
    const over = new AbortController()
    running.current = over
    void offerPasskeys(over.signal, (credential) => given.current(credential))
    return () => over.abort()
  }, [])
  return { end: () => running.current?.abort() }
}

async function offerPasskeys(over: AbortSignal, onTouch: (credential: Credential) => void): Promise<void> {
  if (!knowsPasskeys || !(await PublicKeyCredential.isConditionalMediationAvailable?.())) return
  while (!over.aborted) {
    const signal = AbortSignal.any([over, AbortSignal.timeout(offerMilliseconds)])
    try {
      onTouch(await touch(await signInOptions(), { mediation: 'conditional', signal }))
    } catch {
      // Nobody has asked for this, so a failure is not shown. Only the end of a challenge begins it again.
      if (!signal.aborted) return
    }
  }
}

function wordsFor(failure: unknown, isTouch = false): string {
  const words = touchFailure(failure)
  if (words !== undefined) return words
  if (problemOf(failure, 'invalid-credentials')) {
    return isTouch
      ? 'This passkey no longer belongs to an account that can sign in here.'
      : 'Wrong email or password.'
  }
  if (problemOf(failure, 'passkeys-unavailable')) return 'Passkeys do not work at this address.'
  if (failure instanceof NoCookieError) {
    return location.protocol === 'https:'
      ? 'Your browser did not keep you signed in. Allow cookies for this site.'
      : 'Your browser did not keep you signed in. Safari does not at an http address: use another browser, or https.'
  }
  const invalid = problemOf(failure, 'validation-failed')
  if (invalid) {
    return (invalid.errors ?? []).map(({ pointer, detail }) => `${pointer?.slice(2)} ${detail}`).join(' ')
  }
  return passwordFailure(failure)
}
