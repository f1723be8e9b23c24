import type { Ref } from 'react'
import { type Fault, markOf } from './fault.ts'

export interface HighlightProps {
  text: string
  fault: Fault | undefined
  /** The text may become valid when more is typed. */
  isSoft: boolean
  ref?: Ref<HTMLDivElement>
}

/** The text once more, unseen behind the input, with a line under the fault. Screen readers use the input. */
export function Highlight({ text, fault, isSoft, ref }: HighlightProps) {
  const [from, to] = markOf(text, fault)
  return (
    <div ref={ref} className="search-highlight" aria-hidden="true" dir="auto">
      {text.slice(0, from)}
      {fault && (
        <span className={isSoft ? 'search-fault search-fault-soft' : 'search-fault'}>
          {text.slice(from, to) || '\u00a0'}
        </span>
      )}
      {text.slice(to)}
    </div>
  )
}
