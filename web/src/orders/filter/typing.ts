import { useEffect, useRef, useState } from 'react'
import { isHalfTyped } from './text.ts'

const pauseMilliseconds = 350

/**
 * Applies a search to the address. With `isSameGo`, it replaces an earlier search from the same bout of
 * typing.
 */
export type Apply = (filter: string, isSameGo: boolean) => void

/**
 * The text of the search box. It is applied after a pause, unless it is half typed, and on demand. It follows
 * an address that changes otherwise, for example by Back. A search that is applied late does not overwrite
 * what was typed in the meantime.
 */
export function useSearchText(filter: string, onApply: Apply) {
  const [text, setText] = useState(filter)
  /** Searches that were applied but have not been seen in the address yet. */
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
    if (wanted === (underway.current.at(-1) ?? latest.current.filter)) return
    underway.current.push(wanted)
    latest.current.onApply(wanted, isInGo.current)
    isInGo.current = true
  }
  return {
    text,
    /** Called while the person types. */
    type(next: string): void {
      setText(next)
      clearTimeout(timer.current)
      if (!isHalfTyped(next)) timer.current = setTimeout(() => apply(next), pauseMilliseconds)
    },
    /** When the person searches: a new history entry. */
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
