import { useState } from 'react'
import { type FieldError, problemOf } from '../../api/problem.ts'
import type { Attempt } from './attempt.ts'
import { readCustomer } from './customer-input.ts'
import { blankDraft, type Draft, dropDraft, keepDraft, readDraft, type UserId } from './draft.ts'
import { notation } from './notation.ts'
import { readTotal } from './total-input.ts'

export type FieldName = keyof Draft
const nothingChecked: Record<FieldName, boolean> = { customer: false, total: false }

/** What is in the fields, what it means, and which fields the person is done with. */
export function useOrderForm(userId: UserId) {
  const [draft, setDraft] = useState(() => readDraft(userId))
  const [checked, setChecked] = useState(nothingChecked)
  const [isRestored, setRestored] = useState(draft !== blankDraft)
  function change(name: FieldName, text: string) {
    const next = { ...draft, [name]: text }
    setDraft(next)
    keepDraft(userId, next)
  }
  /**
   * Who leaves a field empty may come back to it; only the sending asks for it, and that may be what it is left for.
   */
  function leave(name: FieldName) {
    if (draft[name].trim() !== '') setChecked((before) => ({ ...before, [name]: true }))
  }
  return {
    draft,
    customer: readCustomer(draft.customer),
    total: readTotal(draft.total, notation),
    isRestored,
    fieldProps: (name: FieldName) => ({
      text: draft[name],
      isChecked: checked[name],
      onChange: (text: string) => change(name, text),
      onLeave: () => leave(name),
    }),
    checkAll: () => setChecked({ customer: true, total: true }),
    startOver() {
      dropDraft()
      setDraft(blankDraft)
      setChecked(nothingChecked)
      setRestored(false)
    },
  }
}

type FieldFaults = Partial<Record<FieldName, string>>

/** What the service found in single fields; undefined when the failure is not, or not only, about these. */
export function fieldFaultsOf(attempt: Attempt): FieldFaults | undefined {
  if (attempt.kind !== 'failed') return undefined
  const errors = problemOf(attempt.failure, 'validation-failed')?.errors ?? []
  const faults = errors.flatMap((error) => {
    const name = fieldOf(error)
    return name === undefined ? [] : [[name, wordsOf(error)]]
  })
  return errors.length === 0 || faults.length < errors.length ? undefined : Object.fromEntries(faults)
}

function fieldOf({ pointer }: FieldError): FieldName | undefined {
  return (['customer', 'total'] as const).find((name) => pointer === `#/${name}`)
}

/** The details of the service begin with the name of the field: "total must be greater than 0." */
function wordsOf({ detail }: FieldError): string {
  return `The ${detail}`
}
