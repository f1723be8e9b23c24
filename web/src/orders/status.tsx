import { orderStates } from '../../../client/src/facts.ts'
import { type StateName, shownAs } from './states.ts'

/** A status as a word with its sign, on its colour. */
export function Status({ status }: { status: number }) {
  const { word, className } = shownAs(status)
  return <span className={`status ${className}`}>{word}</span>
}

/** The same for use within a line of text, as in a legend. */
export function StateLabel({ name }: { name: StateName }) {
  return <span className={shownAs(orderStates[name]).className}>{name}</span>
}
