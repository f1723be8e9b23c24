import { type ReactNode, useRef } from 'react'
import { Button } from 'react-aria-components/Button'
import { problemOf } from '../api/problem.ts'
import { Form, Submit } from '../ui/form.tsx'
import { Input } from '../ui/input.tsx'
import { Note } from '../ui/note.tsx'
import { type touch, touchFailure } from './passkeys.ts'
import { currentPassword, passwordFailure, selectAll, usePasswordRequest } from './password.ts'

type Credential = Awaited<ReturnType<typeof touch>>
type Given = { password: string } | { credential: Credential }

interface Attempt {
  isTouch: boolean
  give(): Promise<Given>
}

interface ProofFormProps {
  /** How to ask for a touch, and whether the person is known to have a passkey. */
  passkey: { give(): Promise<Credential>; isKnown: boolean } | undefined
  send(given: Given): Promise<unknown>
  /** Labels of the button: at rest, and while it sends. */
  labels: [rest: string, busy: string]
  /** Besides the button. */
  aside?: ReactNode
  children: ReactNode
}

/** Asks a person to prove by password or passkey that the account is theirs. */
export function ProofForm({ passkey, send, labels, aside, children }: ProofFormProps) {
  const field = useRef<HTMLInputElement>(null)
  const proving = usePasswordRequest({
    send: async ({ give }: Attempt) => send(await give()),
    onFailure: (failure) => touchFailure(failure) === undefined && selectAll(field.current),
  })
  const isFirst = passkey?.isKnown ?? false
  const askForTouch = (give: () => Promise<Credential>) =>
    proving.submit({ isTouch: true, give: async () => ({ credential: await give() }) })
  return (
    <Form
      className="stack"
      onSubmit={(form) => {
        const password = String(new FormData(form).get('password'))
        proving.submit({ isTouch: false, give: async () => ({ password }) })
      }}
    >
      {children}
      {passkey && (
        <Button
          className={isFirst ? 'button button-primary' : 'button'}
          autoFocus={isFirst}
          onPress={() => askForTouch(passkey.give)}
        >
          Use a passkey
        </Button>
      )}
      <Input {...currentPassword} ref={field} autoFocus={!isFirst} aria-describedby="proof-failure" />
      <div id="proof-failure" role="alert">
        {proving.isError && <Note kind="bad">{wordsFor(proving.error, proving.variables?.isTouch)}</Note>}
      </div>
      <div className="row dialog-actions">
        {aside}
        <Submit isClosed={proving.isClosed}>{proving.label(...labels)}</Submit>
      </div>
    </Form>
  )
}

function wordsFor(failure: unknown, isTouch = false): string {
  if (isTouch && problemOf(failure, 'wrong-password'))
    return 'This passkey no longer belongs to your account.'
  return touchFailure(failure) ?? passwordFailure(failure)
}
