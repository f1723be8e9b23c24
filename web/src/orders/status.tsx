import { shownAs } from './states.ts'

/** A status as a word with its sign, on its colour. */
export function Status({ status }: { status: number }) {
  const { word, className } = shownAs(status)
  return <span className={`status ${className}`}>{word}</span>
}
