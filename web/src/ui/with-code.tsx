import { piecesOf } from './backticks.ts'

/** A sentence of the service, with what stands between backticks as code. */
export function WithCode({ text }: { text: string }) {
  return piecesOf(text).map(({ at, text: piece, isCode }) =>
    isCode ? <code key={at}>{piece}</code> : <span key={at}>{piece}</span>,
  )
}
