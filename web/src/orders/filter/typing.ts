import { useEffect, useRef, useState } from 'react'
import { lengthFault } from './fault.ts'
import { isHalfTyped } from './text.ts'

const pauseMilliseconds = 350

/** Applies a search to the address: `isSameGo` says that it replaces what the same typing put there. */
export type Apply = (filter: string, isSameGo: boolean) => void

/**
 * The text of the search box. It is applied after a pause, unless it is typed by half, and on demand; and it follows an
 * address that changes by itself, as by Back. Whatever is applied late comes back to no text that was typed on
 * meanwhile.
 */
export function useSearchText(filter: string, onApply: Apply) {
  const [text, setText] = useState(filter)
  /** Applied, and not yet seen in the address. */
  const underway = useRef<string[]>([])
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const isInGo = useRef(false)
  const latest = useRef({ filter, onApply })
  latest.current = { filter, onApply }

  useEffect(() => {
    const index = underway.current.indexOf(filter)
    underway.current = underway.current.slice(index + 1)
    if (index >= 0) return
    underway.current = []
    clearTimeout(timer.current)
    setText((current) => (current.trim() === filter ? current : filter))
  }, [filter])
  useEffect(() => () => clearTimeout(timer.current), [])

  function apply(next: string): void {
    clearTimeout(timer.current)
    const wanted = next.trim()
    if (wanted === (underway.current.at(-1) ?? latest.current.filter) || lengthFault(wanted)) return
    underway.current.push(wanted)
    latest.current.onApply(wanted, isInGo.current)
    isInGo.current = true
  }
  return {
    text,
    /** What somebody is typing. */
    type(next: string): void {
      setText(next)
      clearTimeout(timer.current)
      if (!isHalfTyped(next)) timer.current = setTimeout(() => apply(next), pauseMilliseconds)
    },
    /** What somebody has decided on: a search of its own in the history. */
    decide(next: string): void {
      setText(next)
      apply(next)
      isInGo.current = false
    },
    startGo(): void {
      isInGo.current = false
    },
  }
}
