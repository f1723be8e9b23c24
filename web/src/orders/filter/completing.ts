import { type KeyboardEvent, type RefObject, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { useUser } from '../../auth/session.ts'
import { type Completion, complete } from './completion.ts'

/**
 * The list of completions. It opens while a word is typed, or on Arrow down; nothing in it is preselected.
 */
export function useCompletions(
  text: string,
  input: RefObject<HTMLInputElement | null>,
  onType: (text: string) => void,
) {
  const { userName } = useUser()
  const { caret, setCaret, putCaret } = useCaret(input)
  const [isWanted, setWanted] = useState(false)
  const [active, setActive] = useState(-1)
  const completions = useMemo(
    () => (isWanted ? complete(text, caret, { nowMilliseconds: Date.now(), userName }) : []),
    [isWanted, text, caret, userName],
  )
  const isOpen = completions.length > 0
  function show(isShown: boolean) {
    setWanted(isShown)
    setActive(-1)
  }
  function accept({ from, to, insert }: Completion) {
    putCaret(from + insert.length)
    onType(text.slice(0, from) + insert + text.slice(to))
    show(true)
  }
  const list: List = { completions, isOpen, active: isOpen ? active : -1, show, accept, setActive }
  return {
    ...list,
    /** Returns whether the list used the key. */
    press: (event: KeyboardEvent) => press(event, list),
    close: () => show(false),
    /** There is no list after a space, because the next plain word needs none. */
    typed({ value, selectionStart }: HTMLInputElement, isComposing: boolean) {
      const at = selectionStart ?? value.length
      setCaret(at)
      show(!isComposing && /\S$/.test(value.slice(0, at)))
    },
    moved({ selectionStart, selectionEnd }: HTMLInputElement) {
      if (selectionStart !== selectionEnd) show(false)
      else if (selectionStart !== null && selectionStart !== caret) {
        setCaret(selectionStart)
        setActive(-1)
      }
    },
  }
}

interface List {
  completions: readonly Completion[]
  isOpen: boolean
  /** The index of the completion that Enter would insert; -1 for none. */
  active: number
  show(isShown: boolean): void
  accept(completion: Completion): void
  setActive(index: number): void
}

function press(event: KeyboardEvent, { completions, isOpen, active, ...list }: List): boolean {
  const { key } = event
  const chosen = completions[active]
  if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return false
  if (key === 'ArrowDown' || key === 'ArrowUp') {
    if (isOpen) list.setActive(nextIndex(active, key, completions.length))
    else if (key === 'ArrowDown') list.show(true)
  } else if ((key === 'Enter' || key === 'Tab') && chosen) list.accept(chosen)
  else if (key === 'Escape' && isOpen) list.show(false)
  else return false
  event.preventDefault()
  return true
}

/** Where the caret is. `putCaret` moves it once the new text is drawn. */
function useCaret(input: RefObject<HTMLInputElement | null>) {
  const [caret, setCaret] = useState(0)
  const next = useRef<number>(undefined)
  useLayoutEffect(() => {
    if (next.current !== undefined) input.current?.setSelectionRange(next.current, next.current)
    next.current = undefined
  })
  return {
    caret,
    setCaret,
    putCaret(at: number) {
      next.current = at
      setCaret(at)
    },
  }
}

/** Wraps around. Between the last and the first, nothing is active. */
function nextIndex(index: number, key: string, count: number): number {
  const step = key === 'ArrowDown' ? 1 : -1
  return ((index + 1 + step + count + 1) % (count + 1)) - 1
}
