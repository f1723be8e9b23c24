import { useUser } from '../auth/session.ts'
import { useForm } from '../ui/draft.ts'
import { formatCount } from '../ui/format.ts'

/** Unicode code points after trimming, as in the contract. */
export const textLimit = 1_000
const counterFrom = 900

export type TextReading = { ok: true; wire: string } | { ok: false; fault: string }

/**
 * Without `missing`, which is said about an empty text, it may be empty. The service judges single
 * characters.
 */
export function readText(typed: string, missing: string | undefined): TextReading {
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

/** A form of one text, a reason or a note; `place` names its draft. */
export function useText(place: string, id: 'reason' | 'note', missing: string | undefined) {
  const fields = { [id]: (typed: string) => readText(typed, missing) } as Record<
    typeof id,
    (typed: string) => TextReading
  >
  const form = useForm(place, useUser().id, fields)
  const { onLeave: _, ...field } = form.field(id)
  return {
    field: { ...field, left: charactersLeft(field.text), isLong: true, hasFocus: true },
    /** Undefined when something is wrong with it: the field then says so and has the focus. */
    submit: (): string | undefined => form.submit()?.[id],
    drop: form.drop,
  }
}
