import { type ReactNode, useEffect } from 'react'
import { focusOn, refusalsOf } from '../ui/draft.ts'
import { Refused } from './pieces.tsx'

interface FieldsProps<Value> {
  value: Value
  onChange(value: Value): void
  /** The service's message about each field, by its name. */
  refusals: Readonly<Record<string, string | undefined>>
}

export type Fields<Value> = (props: FieldsProps<Value>) => ReactNode

interface JudgedProps<Value> {
  value: Value
  onChange(value: Value): void
  fields: Fields<Value>
  /** The fields that show refusals; their elements have the same ids. */
  names?: readonly (keyof Value & string)[] | undefined
  /** The last value sent, and why it failed. */
  sent: Value | undefined
  failure: unknown
  /** See `Refused`. */
  onLoad?: () => void
}

const none: readonly never[] = []

/** Fields, and why the service refused what was sent: at its field, or below. */
export function Judged<Value extends object>(props: JudgedProps<Value>) {
  const { value, onChange, fields, names = none, sent, failure, onLoad } = props
  const refusals = refusalsOf(failure, names)
  useEffect(() => {
    const [first] = Object.keys(refusalsOf(failure, names) ?? {})
    if (first !== undefined) focusOn(first)
  }, [failure, names])
  // A refusal is about the value that was sent, not about one typed since.
  const standing = names.filter((name) => value[name] === sent?.[name])
  return (
    <>
      {fields({
        value,
        onChange,
        refusals: Object.fromEntries(standing.map((name) => [name, refusals?.[name]])),
      })}
      <Refused failure={refusals ? null : failure} {...(onLoad && { onLoad })} />
    </>
  )
}
