import { useRef } from 'react'
import { Button } from 'react-aria-components/Button'
import { Dialog, Heading } from 'react-aria-components/Dialog'
import { Modal, ModalOverlay } from 'react-aria-components/Modal'
import { client } from '../api/client.ts'
import { Form, Submit } from '../ui/form.tsx'
import { Note } from '../ui/note.tsx'
import { type Asking, useAsking } from './confirm.ts'
import { passwordFailure, selectAll, usePasswordRequest } from './password.ts'

/**
 * Asks for the password where a request needs a recent sign-in. With it the request is sent again: the view
 * that sent it only sees that it took a while. Without it the request is refused.
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
  const confirming = usePasswordRequest({
    send: (password: string) => client.POST('/v1/auth/session/confirm', { body: { password } }),
    onSuccess: () => asking.settle(true),
    onFailure: () => selectAll(field.current),
  })
  return (
    <Form
      className="stack"
      onSubmit={(form) => confirming.submit(String(new FormData(form).get('password')))}
    >
      <Heading slot="title" level={2}>
        Confirm it’s you
      </Heading>
      <p>Enter your password to continue. You won’t be asked again for five minutes.</p>
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
        <Submit isClosed={confirming.isClosed}>{confirming.label('Confirm', 'Checking …')}</Submit>
      </div>
    </Form>
  )
}
