import { useEffect } from 'react'
import { observable } from './observable.ts'
import { inBrowser } from './persist.ts'

export const shortcuts = [
  ['Ctrl K', 'Search or go to anything (⌘ K on a Mac)'],
  ['/', 'Search the orders'],
  ['n', 'New order'],
  ['o', 'Orders'],
  ['h', 'Overview'],
  ['j k', 'Next and previous row, or order'],
  ['x', 'Select the row'],
  ['v', 'Review the listed orders one by one'],
  ['a', 'Approve the open order, the selected orders, or the one in focus'],
  ['r', 'Reject the open order'],
  ['u', 'Undo a decision that has not been sent yet'],
  ['l', 'Open the views of the list'],
  ['e', 'Export the list'],
  ['?', 'Show all keys'],
] as const

export const shortcutsOn = observable(inBrowser.read('shortcuts') !== 'off')

export function turnShortcuts(on: boolean): void {
  shortcutsOn.set(on)
  inBrowser.write('shortcuts', on ? 'on' : 'off')
}

/** What each key does on the current page. */
const live = new Map<string, () => void>()

/** The shortcuts that are active now. */
export function liveShortcuts(): { keys: string; meaning: string; act(): void }[] {
  return shortcuts.flatMap(([keys, meaning]) => {
    const act = live.get(keys.split(' ')[0] ?? '')
    return act ? [{ keys, meaning, act }] : []
  })
}

/**
 * Runs `act` when the key is pressed outside fields and dialogs (WCAG 2.2, 2.1.4: can be turned off). Without
 * `act` the key does nothing.
 */
export function useShortcut(key: string, act: ((event?: KeyboardEvent) => void) | undefined): void {
  useEffect(() => {
    if (act === undefined) return undefined
    live.set(key, act)
    const listen = (event: KeyboardEvent) => {
      if (event.key !== key || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented)
        return
      if (!shortcutsOn.get() || isBusy(event.target)) return
      event.preventDefault()
      act(event)
    }
    addEventListener('keydown', listen)
    return () => {
      removeEventListener('keydown', listen)
      if (live.get(key) === act) live.delete(key)
    }
  }, [key, act])
}

/** Ctrl+Z, or Command+Z on a Mac, where the letter stays lower case with Shift. */
export function isUndo(
  event: Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'shiftKey' | 'altKey'>,
): boolean {
  return event.key === 'z' && (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey
}

const typed = 'input:not([type="checkbox"], [type="radio"], [type="range"]), textarea, select'

/** Whether the person is typing, or has a dialog open. */
export function isBusy(target: EventTarget | null): boolean {
  const isTyping = target instanceof Element && target.closest(typed) !== null
  return isTyping || isDialogOpen()
}

export function isDialogOpen(): boolean {
  return document.querySelector('[role="dialog"], [role="alertdialog"]') !== null
}
