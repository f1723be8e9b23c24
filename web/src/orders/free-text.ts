import type { KeyboardEvent } from 'react'
import { useUser } from '../auth/session.ts'
import { type Reading, useForm } from '../ui/draft.ts'
import { formatCount } from '../ui/format.ts'

/** Unicode code points after trimming, as in the contract. */
export const textLimit = 1_000
const counterFrom = 900

/**
 * `missing` is the message for an empty text; without it, the text may be empty. The service judges single
 * characters.
 */
export function readText(typed: string, missing: string | undefined): Reading<string> {
  const wire = typed.trim()
  if (wire === '' && missing !== undefined) return { ok: false, fault: missing }
  return [...wire].length > textLimit
    ? { ok: false, fault: `Write at most ${formatCount(textLimit)} characters.` }
    : { ok: true, wire }
}

export function charactersLeft(typed: string): number | undefined {
  const { length } = [...typed.trim()]
  return length < counterFrom ? undefined : textLimit - length
}

/** Enter sends the text, with Ctrl too; Shift and Enter begin a new line. */
export function sendsOnEnter(send: () => void) {
  return (event: KeyboardEvent) => {
    // Enter may also end a word that is being composed.
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
    if (!(event.target instanceof HTMLTextAreaElement)) return
    event.preventDefault()
    send()
  }
}

/** A form of one text, a reason or a note; `place` names its draft. */
export function useText(place: string, id: 'reason' | 'note', missing: string | undefined) {
  const fields = { [id]: (typed: string) => readText(typed, missing) } as Record<
    typeof id,
    (typed: string) => Reading<string>
  >
  const form = useForm(place, useUser().id, fields)
  const { onLeave: _, ...field } = form.field(id)
  return {
    field: { ...field, left: charactersLeft(field.text), isLong: true, hasFocus: true },
    /** Undefined if the text is invalid. The field then says why and has the focus. */
    submit: (): string | undefined => form.submit()?.[id],
    drop: form.drop,
  }
}
