import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useRef, useState } from 'react'
import { Button } from 'react-aria-components/Button'
import { isPassing, mayHaveHappened, retryDelayMilliseconds } from '../../api/problem.ts'
import { ofThisPerson } from '../../auth/session.ts'
import { announce } from '../../ui/announce.ts'
import { describeFailure } from '../../ui/describe.ts'
import { Note } from '../../ui/note.tsx'
import { newIdempotencyKey, ordersChanged } from '../queries.ts'
import { WordsField } from '../words-field.tsx'
import { readWritten, useWritten } from '../written.ts'
import { addNote } from './queries.ts'

/** Adds a note to the history, in any state of the order. It opens where it is wanted. */
export function AddNote({ id }: { id: string }) {
  const [written, write] = useWritten(`note ${id}`)
  const [isOpen, setOpen] = useState(written !== '')
  const [wasOpen, setWasOpen] = useState(false)
  if (!isOpen) {
    return (
      <Button
        className="button button-small order-note"
        // In the place of the form that had the focus.
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
      written={written}
      onWrite={write}
      onClose={() => {
        write('')
        setWasOpen(true)
        setOpen(false)
      }}
    />
  )
}

interface FormProps {
  id: string
  written: string
  onWrite(text: string): void
  onClose(): void
}

function NoteForm({ id, written, onWrite, onClose }: FormProps) {
  const field = useRef<HTMLTextAreaElement>(null)
  const [isChecked, setChecked] = useState(false)
  const reading = readWritten(written, 'Write a note.')
  const sending = useSending(id, onClose)
  const failure = sending.failureReason ?? sending.error

  function submit(event: FormEvent) {
    event.preventDefault()
    setChecked(true)
    if (reading.ok) sending.send(reading.text)
    else field.current?.focus()
  }
  return (
    <form className="order-note" noValidate onSubmit={submit} aria-label="Note">
      <WordsField
        id="note"
        label="Note"
        hint="It stays in the history of the order."
        text={written}
        fault={isChecked && !reading.ok ? reading.fault : undefined}
        isReadOnly={sending.isPending}
        isRequired
        field={field}
        onChange={onWrite}
        hasFocus
      />
      <div role="status">{failure != null && <NoteFailure failure={failure} />}</div>
      <div className="row">
        <button className="button button-small" type="submit" aria-disabled={sending.isPending}>
          {sending.isPending ? 'Adding …' : 'Add note'}
        </button>
        <Button className="button button-quiet button-small" onPress={onClose} isDisabled={sending.isPending}>
          Cancel
        </Button>
      </div>
    </form>
  )
}

function NoteFailure({ failure }: { failure: unknown }) {
  const { title, detail } = describeFailure(failure)
  const safe = mayHaveHappened(failure) ? 'However often it is sent, it is added only once.' : undefined
  return <Note kind="warning" title={title} lines={[detail, safe]} />
}

/** One at a time. Every try of one text has one key, whatever happened in between: it is added once. */
function useSending(id: string, onAdded: () => void) {
  const keys = useRef(new Map<string, string>())
  // Known at once, unlike state: the second press of a double click arrives before the next rendering.
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
    const idempotencyKey = keys.current.get(text) ?? newIdempotencyKey()
    keys.current.set(text, idempotencyKey)
    mutate(ofThisPerson(() => addNote({ id, text, idempotencyKey })))
  }
  return { ...state, send }
}
