import { piecesOf } from './backticks.ts'

/** A sentence from the service; text between backticks is code. */
export function WithCode({ text }: { text: string }) {
  return piecesOf(text).map(({ at, text: piece, isCode }) =>
    isCode ? <code key={at}>{piece}</code> : <span key={at}>{piece}</span>,
  )
}
