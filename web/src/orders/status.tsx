import { nameOf, words } from './states.ts'

/** A status as a word with its sign. */
export function Status({ status }: { status: number }) {
  const name = nameOf(status)
  // A newer service knows states that this app does not: the number is then better than a wrong word.
  if (name === undefined) return <span className="status">Status {status}</span>
  const { tone, isFull } = words[name]
  return <span className={`status tone-${tone} ${isFull ? 'is-full' : ''}`}>{name}</span>
}
