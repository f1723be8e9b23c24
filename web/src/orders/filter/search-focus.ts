import { type RefObject, useEffect } from 'react'

/** The search box of the page, if it has one. */
let shown: HTMLInputElement | null = null
/** The next one takes the focus. */
let isAwaited = false

/** Focuses the search, or returns false if the page has none: then the next one takes the focus. */
export function focusSearch(): boolean {
  isAwaited = shown === null
  // Not every browser focuses a box whose text is selected.
  shown?.focus()
  shown?.select()
  return !isAwaited
}

export function useSearchFocus(input: RefObject<HTMLInputElement | null>): void {
  useEffect(() => {
    shown = input.current
    if (isAwaited) focusSearch()
    return () => {
      shown = null
    }
  }, [input])
}
