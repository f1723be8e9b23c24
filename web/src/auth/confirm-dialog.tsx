import { useRef } from 'react'
import { Button } from 'react-aria-components/Button'
import { client, onRecentSignInNeeded } from '../api/client.ts'
import { problemOf } from '../api/problem.ts'
import { Form, Submit } from '../ui/form.tsx'
import { Input } from '../ui/input.tsx'
import { ModalDialog } from '../ui/modal.tsx'
import { Note } from '../ui/note.tsx'
import { observable } from '../ui/observable.ts'
import { confirmationOptions, touch, touchFailure } from './passkeys.ts'
import { currentPassword, passwordFailure, selectAll, usePasswordRequest } from './password.ts'
import { onForget } from './session.ts'

/** While the service waits for the person: `settle` reports whether they confirmed. */
interface Asking {
  /** For a person who has a passkey. */
  options: Awaited<ReturnType<typeof confirmationOptions>>
  settle(isGiven: boolean): void
}

interface Attempt {
  isTouch: boolean
  give(): Promise<{ password: string } | { credential: Awaited<ReturnType<typeof touch>> }>
}

const asking = observable<Asking | undefined>(undefined)

let asked: Promise<boolean> | undefined

/** Requests that need it at the same time wait for the same answer. */
function askForPassword(): Promise<boolean> {
  asked ??= ask().finally(() => {
    asked = undefined
    asking.set(undefined)
  })
  return asked
}

async function ask(): Promise<boolean> {
  const options = await confirmationOptions()
  return new Promise((settle) => asking.set({ options, settle }))
}

onRecentSignInNeeded(askForPassword)
onForget(() => asking.get()?.settle(false))

/**
 * Asks for a passkey or the password when a request needs a recent sign-in. If it is given, the request is
 * sent again, and the view that sent it only notices a delay. Otherwise the request is refused.
 */
export function ConfirmDialog() {
  const open = asking.use()
  if (open === undefined) return null
  return (
    <ModalDialog
      title="Confirm it’s you"
      isOpen
      onOpenChange={() => open.settle(false)}
      isDismissable={false}
    >
      <ConfirmForm {...open} />
    </ModalDialog>
  )
}

function ConfirmForm({ options, settle }: Asking) {
  const field = useRef<HTMLInputElement>(null)
  const confirming = usePasswordRequest({
    send: async ({ give }: Attempt) => client.POST('/v1/auth/session/confirm', { body: await give() }),
    onSuccess: () => settle(true),
    onFailure: (failure) => touchFailure(failure) === undefined && selectAll(field.current),
  })

  /** Asks for new options, because the dialog may have been open for a long time. */
  const askForPasskey = (first: NonNullable<typeof options>) =>
    confirming.submit({
      isTouch: true,
      give: async () => ({ credential: await touch((await confirmationOptions()) ?? first) }),
    })
  return (
    <Form
      className="stack"
      onSubmit={(form) => {
        const password = String(new FormData(form).get('password'))
        confirming.submit({ isTouch: false, give: async () => ({ password }) })
      }}
    >
      <p>
        {options ? 'Use your passkey or enter your password' : 'Enter your password'} to continue. You won’t
        be asked again for five minutes.
      </p>
      {options && (
        <Button className="button button-primary" autoFocus onPress={() => askForPasskey(options)}>
          Use a passkey
        </Button>
      )}
      <Input {...currentPassword} ref={field} autoFocus={!options} aria-describedby="confirm-failure" />
      <div id="confirm-failure" role="alert">
        {confirming.isError && (
          <Note kind="bad">{wordsFor(confirming.error, confirming.variables?.isTouch)}</Note>
        )}
      </div>
      <div className="row dialog-actions">
        <Button className="button" onPress={() => settle(false)}>
          Cancel
        </Button>
        <Submit isClosed={confirming.isClosed}>{confirming.label('Confirm', 'Checking …')}</Submit>
      </div>
    </Form>
  )
}

function wordsFor(failure: unknown, isTouch = false): string {
  if (isTouch && problemOf(failure, 'wrong-password'))
    return 'This passkey no longer belongs to your account.'
  return touchFailure(failure) ?? passwordFailure(failure)
}
