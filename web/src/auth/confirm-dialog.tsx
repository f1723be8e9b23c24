import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useRef } from 'react'
import { Button } from 'react-aria-components/Button'
import { Dialog, Heading } from 'react-aria-components/Dialog'
import { Modal, ModalOverlay } from 'react-aria-components/Modal'
import { client } from '../api/client.ts'
import { ProblemError, problemOf } from '../api/problem.ts'
import { endInWords } from '../ui/describe.ts'
import { Note } from '../ui/note.tsx'
import { type Asking, useAsking } from './confirm.ts'
import { useWait, waitingWords } from './wait.ts'

/**
 * Asks for the password where the service wants a recent sign-in for what the person has just done. Then the request is
 * sent again by itself: the view that sent it only sees that it took a while. Without the password it is refused.
 */
export function ConfirmDialog() {
  const asking = useAsking()
  if (asking === undefined) return null
  return (
    <ModalOverlay className="dialog-scrim" isOpen onOpenChange={() => asking.settle(false)}>
      <Modal className="dialog">
        <Dialog>
          <ConfirmForm asking={asking} />
        </Dialog>
      </Modal>
    </ModalOverlay>
  )
}

function ConfirmForm({ asking }: { asking: Asking }) {
  const field = useRef<HTMLInputElement>(null)
  const wait = useWait()
  const confirming = useMutation({
    mutationFn: (password: string) => client.POST('/v1/auth/session/confirm', { body: { password } }),
    onSuccess: () => asking.settle(true),
    onError(failure) {
      if (failure instanceof ProblemError) wait.start(failure.retryAfterMilliseconds ?? 0)
      field.current?.focus()
      field.current?.select()
    },
    // Nothing keeps the password once the answer is there.
    gcTime: 0,
  })
  const isClosed = confirming.isPending || wait.seconds > 0

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const password = String(new FormData(event.currentTarget).get('password'))
    if (!isClosed) confirming.mutate(password)
  }

  return (
    <form className="stack" onSubmit={submit}>
      <Heading slot="title" level={2}>
        Confirm that it is you
      </Heading>
      <p>Enter your password to go on. You will not be asked again for five minutes.</p>
      <div className="field">
        <label htmlFor="confirm-password">Password</label>
        <input
          ref={field}
          id="confirm-password"
          name="password"
          type="password"
          autoComplete="current-password"
          maxLength={512}
          required
          // biome-ignore lint/a11y/noAutofocus: the dialog asks for nothing else
          autoFocus
          aria-describedby="confirm-failure"
        />
      </div>
      <div id="confirm-failure" role="alert">
        {confirming.isError && <Note kind="bad">{passwordFailure(confirming.error)}</Note>}
      </div>
      <div className="row dialog-actions">
        <Button className="button" onPress={() => asking.settle(false)}>
          Cancel
        </Button>
        {/* Not disabled, so that it keeps the focus; `submit` lets nothing through meanwhile. */}
        <button type="submit" className="button button-primary" aria-disabled={isClosed}>
          {confirming.isPending ? 'Checking …' : waitingWords('Confirm', wait.seconds)}
        </button>
      </div>
    </form>
  )
}

/** Why the password that somebody gave once more was not taken. */
export function passwordFailure(failure: unknown): string {
  if (problemOf(failure, 'wrong-password')) return 'Wrong password.'
  if (problemOf(failure, 'too-many-attempts', 'rate-limited')) {
    return 'Too many attempts. The button shows when you can try again.'
  }
  return endInWords(failure)
}
