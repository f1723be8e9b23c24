import type { Ref } from 'react'
import { type Fault, piecesOf } from './fault.ts'

export interface HighlightProps {
  text: string
  fault: Fault | undefined
  /** The text may become valid when more is typed. */
  isSoft: boolean
  ref?: Ref<HTMLDivElement>
}

/** The coloured text behind the transparent text of the input. Screen readers use the input. */
export function Highlight({ text, fault, isSoft, ref }: HighlightProps) {
  const faulty = isSoft ? 'search-fault search-fault-soft' : 'search-fault'
  return (
    <div ref={ref} className="search-highlight" aria-hidden="true" dir="auto">
      {piecesOf(text, fault).map(({ from, text: part, kind, isFaulty }) => (
        <span key={from} className={isFaulty ? `search-${kind} ${faulty}` : `search-${kind}`}>
          {part}
        </span>
      ))}
    </div>
  )
}
