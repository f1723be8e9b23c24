import { useState } from 'react'
import { Button } from 'react-aria-components/Button'
import { client } from '../../api/client.ts'
import { mayHaveHappened } from '../../api/problem.ts'
import { useAction } from '../../auth/action.ts'
import { useUser } from '../../auth/session.ts'
import { announce } from '../../ui/announce.ts'
import { readDraft, sendingOf } from '../../ui/draft.ts'
import { EndNote } from '../../ui/failure.tsx'
import { Field } from '../../ui/field.tsx'
import { Form, Submit } from '../../ui/form.tsx'
import { ownTimeZone } from '../../ui/format.ts'
import { sendsOnEnter, useText } from '../free-text.ts'
import { ordersChanged } from '../queries.ts'

const placeOf = (id: string) => `note ${id}`

/** Adds a note to the history, in any state of the order. */
export function AddNote({ id }: { id: string }) {
  const user = useUser()
  const [isOpen, setOpen] = useState(() => readDraft(placeOf(id), user.id) !== undefined)
  const [wasOpen, setWasOpen] = useState(false)
  if (!isOpen) {
    return (
      <Button
        className="button button-small order-note"
        // This replaces the form that had the focus.
        autoFocus={wasOpen}
        onPress={() => setOpen(true)}
      >
        Add a note
      </Button>
    )
  }
  return (
    <NoteForm
      id={id}
      onClose={() => {
        setWasOpen(true)
        setOpen(false)
      }}
    />
  )
}

function NoteForm({ id, onClose }: { id: string; onClose(): void }) {
  const { field, submit, drop } = useText(placeOf(id), 'note', 'Enter a note.')
  function close() {
    drop()
    onClose()
  }
  const user = useUser()
  const sending = useAction(
    ({ text, idempotencyKey }: { text: string; idempotencyKey: string }) =>
      client.orders.note(id, text, { idempotencyKey, timeZone: ownTimeZone }),
    async () => {
      announce('Note added')
      close()
      await ordersChanged()
    },
  )
  const failure = sending.error
  const safe = mayHaveHappened(failure) ? 'You can try again: the note is added only once.' : undefined

  function send() {
    const text = submit()
    if (text === undefined) return
    const { idempotencyKey } = sendingOf(placeOf(id), user.id, text)
    sending.act({ text, idempotencyKey })
  }
  return (
    <Form
      className="order-note stack gap-3 no-print"
      noValidate
      onSubmit={send}
      onKeyDown={sendsOnEnter(send)}
      aria-label="Note"
    >
      <Field
        {...field}
        label="Note"
        hint="It stays in the history of the order."
        isReadOnly={sending.isPending}
        isRequired
      />
      <div role="status">{failure != null && <EndNote failure={failure} more={safe} />}</div>
      <div className="row">
        <Submit className="button button-small" isClosed={sending.isPending}>
          {sending.isPending ? 'Adding …' : 'Add note'}
        </Submit>
        <Button className="button button-quiet button-small" onPress={close} isDisabled={sending.isPending}>
          Cancel
        </Button>
      </div>
    </Form>
  )
}
