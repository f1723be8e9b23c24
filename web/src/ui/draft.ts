import { useState } from 'react'
import { type FieldError, problemOf } from '../api/problem.ts'
import { holdPage } from './reload.ts'

export type UserId = number | string

/** The state of all requests under one key. Each try changes it. */
export interface Sent {
  idempotencyKey: string
  /** A request was sent, and no answer says whether it took effect. A later refusal does not change that. */
  mayHaveHappened: boolean
}

interface Kept {
  value: unknown
  /** Keyed by what was sent. */
  sent: Map<string, Sent>
}

/**
 * All drafts, by place. They are only in this page's memory: nothing is lost when the session ends or the
 * person looks elsewhere, and nothing stays on the computer. They belong to one person, and are gone as
 * soon as another one begins a draft.
 */
let owner: UserId | undefined
const drafts = new Map<string, Kept>()

function draftIn(place: string, userId: UserId): Kept {
  if (owner !== userId) {
    owner = userId
    drafts.clear()
    changed()
  }
  const known = drafts.get(place) ?? { value: undefined, sent: new Map() }
  drafts.set(place, known)
  return known
}

function changed(): void {
  holdPage(
    'drafts',
    [...drafts.values()].some(({ value }) => value !== undefined),
  )
}

/** Undefined if the person has typed nothing there. */
export function readDraft<Value>(place: string, userId: UserId): Value | undefined {
  return draftIn(place, userId).value as Value | undefined
}

export function keepDraft(place: string, userId: UserId, value: unknown): void {
  draftIn(place, userId).value = value
  changed()
}

/** Drops a draft that was sent or abandoned. Whatever is typed there next gets new keys. */
export function dropDraft(place: string): void {
  drafts.delete(place)
  changed()
}

/**
 * Returns the same key for the same content until the draft is dropped, however often it is sent and
 * whatever is sent in between. So it takes effect once, even if an answer never arrives.
 */
export function sendingOf(place: string, userId: UserId, content: unknown): Sent {
  const { sent } = draftIn(place, userId)
  const text = JSON.stringify(content)
  const known = sent.get(text) ?? { idempotencyKey: crypto.randomUUID(), mayHaveHappened: false }
  sent.set(text, known)
  return known
}

/** Whether the draft is still what was sent: not changed, dropped or begun again since. */
export function isStillDraft(place: string, sent: Sent, value: unknown): boolean {
  const kept = drafts.get(place)
  return (
    [...(kept?.sent.values() ?? [])].includes(sent) && JSON.stringify(kept?.value) === JSON.stringify(value)
  )
}

/** The person's draft in that place, if any. */
export function useDraft<Value>(place: string, userId: UserId) {
  const [value, setValue] = useState(() => readDraft<Value>(place, userId))
  const [wasThere, setWasThere] = useState(value !== undefined)
  return {
    value,
    /** The draft was there when the view opened, and has not been dropped since. */
    isRestored: wasThere && value !== undefined,
    keep(next: Value | undefined) {
      setValue(() => next)
      keepDraft(place, userId, next)
    },
    drop() {
      setValue(undefined)
      setWasThere(false)
      dropDraft(place)
    },
  }
}

export type Reading<Wire = unknown> = { ok: true; wire: Wire } | { ok: false; fault: string }
/** Reads the text of each field. A field's name is the id of its input, and its name in the API. */
export type Fields = Readonly<Record<string, (text: string) => Reading>>
export type Texts<Of extends Fields> = Record<keyof Of & string, string>
type Readings<Of extends Fields> = { [Name in keyof Of & string]: ReturnType<Of[Name]> }
type Values<Of extends Fields> = {
  [Name in keyof Of & string]: Extract<ReturnType<Of[Name]>, { ok: true }>['wire']
}

/** A form. Its fields determine its draft, what is wrong and where, and what is sent. */
export function useForm<Of extends Fields>(place: string, userId: UserId, fields: Of) {
  type Name = keyof Of & string
  const names = Object.keys(fields) as Name[]
  const draft = useDraft<Texts<Of>>(place, userId)
  const [checked, setChecked] = useState<readonly Name[]>([])
  const texts = draft.value ?? (Object.fromEntries(names.map((name) => [name, ''])) as Texts<Of>)
  const readings = Object.fromEntries(
    names.map((name) => [name, fields[name]?.(texts[name])]),
  ) as Readings<Of>
  return {
    texts,
    readings,
    isRestored: draft.isRestored,
    field: (name: Name) => {
      const reading: Reading = readings[name]
      return {
        id: name,
        text: texts[name],
        fault: checked.includes(name) && !reading.ok ? reading.fault : undefined,
        onChange(text: string) {
          const next = { ...texts, [name]: text }
          draft.keep(names.every((each) => next[each] === '') ? undefined : next)
        },
        /** An empty field is not an error until the form is submitted. */
        onLeave() {
          if (texts[name].trim() !== '') setChecked([...checked, name])
        },
      }
    },
    /** The values to send. Undefined if a field is invalid; the first invalid field then has the focus. */
    submit(): Values<Of> | undefined {
      setChecked(names)
      const faulty = names.find((name) => !readings[name].ok)
      if (faulty !== undefined) return focusOn(faulty)
      return Object.fromEntries(
        names.map((name) => [name, (readings[name] as Reading & { ok: true }).wire]),
      ) as Values<Of>
    },
    drop() {
      draft.drop()
      setChecked([])
    },
  }
}

export function focusOn(id: string): undefined {
  document.getElementById(id)?.focus()
}

/** The service's messages about single fields; undefined if the failure has any other cause. */
export function refusalsOf<Name extends string>(
  failure: unknown,
  names: readonly Name[],
): Partial<Record<Name, string>> | undefined {
  const errors = problemOf(failure, 'validation-failed')?.errors ?? []
  const nameOf = ({ pointer }: FieldError) => names.find((name) => pointer === `#/${name}`)
  if (errors.length === 0 || errors.some((error) => nameOf(error) === undefined)) return undefined
  // The details of the service begin with the name of the field: "total must be greater than 0."
  return Object.fromEntries(errors.map((error) => [nameOf(error), `The ${error.detail}`])) as Partial<
    Record<Name, string>
  >
}
