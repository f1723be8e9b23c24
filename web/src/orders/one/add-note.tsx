import { useMutation } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { Button } from 'react-aria-components/Button'
import { isPassing, mayHaveHappened, retryDelayMilliseconds } from '../../api/problem.ts'
import { ofThisPerson, useUser } from '../../auth/session.ts'
import { announce } from '../../ui/announce.ts'
import { describeFailure } from '../../ui/describe.ts'
import { readDraft, sendingOf } from '../../ui/draft.ts'
import { Form, Submit } from '../../ui/form.tsx'
import { Note } from '../../ui/note.tsx'
import { Field } from '../field.tsx'
import { useText } from '../free-text.ts'
import { ordersChanged } from '../queries.ts'
import { addNote } from './queries.ts'

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
        // It takes the place of the form that had the focus.
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
  const sending = useSending(id, close)
  const failure = sending.failureReason ?? sending.error

  function send() {
    const text = submit()
    if (text !== undefined) sending.send(text)
  }
  return (
    <Form className="order-note stack gap-3 no-print" noValidate onSubmit={send} aria-label="Note">
      <Field
        {...field}
        label="Note"
        hint="It stays in the history of the order."
        isReadOnly={sending.isPending}
        isRequired
      />
      <div role="status">{failure != null && <NoteFailure failure={failure} />}</div>
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

function NoteFailure({ failure }: { failure: unknown }) {
  const { title, detail } = describeFailure(failure)
  const safe = mayHaveHappened(failure) ? 'You can try again: the note is added only once.' : undefined
  return <Note kind="warning" title={title} lines={[detail, safe]} />
}

/** One at a time. */
function useSending(id: string, onAdded: () => void) {
  const user = useUser()
  // A ref, unlike state, is there at once: the second press of a double click comes before the next
  // rendering.
  const isUnderWay = useRef(false)
  const { mutate, ...state } = useMutation({
    mutationFn: (attempt: () => Promise<void>) => attempt(),
    retry: (_tries, failure) => isPassing(failure),
    retryDelay: retryDelayMilliseconds,
    onSettled: () => {
      isUnderWay.current = false
    },
    async onSuccess() {
      announce('Note added')
      onAdded()
      await ordersChanged()
    },
  })
  function send(text: string) {
    if (isUnderWay.current) return
    isUnderWay.current = true
    const { idempotencyKey } = sendingOf(placeOf(id), user.id, text)
    mutate(ofThisPerson(() => addNote({ id, text, idempotencyKey })))
  }
  return { ...state, send }
}
