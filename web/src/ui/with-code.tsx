import { piecesOf } from './backticks.ts'

/** A sentence from the service; text between backticks is code. */
export function WithCode({ text, className }: { text: string; className?: string }) {
  return piecesOf(text).map(({ at, text: piece, isCode }) =>
    isCode ? (
      <code key={at} className={className}>
        {piece}
      </code>
    ) : (
      <span key={at}>{piece}</span>
    ),
  )
}
