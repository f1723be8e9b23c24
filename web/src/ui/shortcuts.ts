import { useEffect } from 'react'
import { observable } from './observable.ts'
import { inBrowser } from './persist.ts'

export const shortcuts = [
  ['/', 'Search the orders; also Ctrl K (⌘ K on a Mac)'],
  ['n', 'New order'],
  ['o', 'Orders'],
  ['h', 'Overview'],
  ['j k', 'Next and previous row, or order of a review'],
  ['x', 'Select the row'],
  ['v', 'Review the listed orders one by one'],
  ['a', 'Approve the open order, the selected orders, or the one in focus'],
  ['r', 'Reject the open order'],
  ['d', 'Show the first document of the open order'],
  ['u', 'Undo a decision that has not been sent yet'],
  ['l', 'Open the views of the list'],
  ['e', 'Export the list'],
  ['?', 'Show all keys'],
] as const

/** Whether the dialog that lists the keys is open. */
export const keysShown = observable(false)

export const shortcutsOn = observable(inBrowser.read('shortcuts') !== 'off')

export function turnShortcuts(on: boolean): void {
  shortcutsOn.set(on)
  inBrowser.write('shortcuts', on ? 'on' : 'off')
}

/**
 * Runs `act` when the key is pressed outside fields and dialogs (WCAG 2.2, 2.1.4: can be turned off). Without
 * `act` the key does nothing.
 */
export function useShortcut(key: string, act: ((event?: KeyboardEvent) => void) | undefined): void {
  useEffect(() => {
    if (act === undefined) return undefined
    const listen = (event: KeyboardEvent) => {
      if (event.key !== key || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented)
        return
      if (!shortcutsOn.get() || isBusy(event.target)) return
      event.preventDefault()
      act(event)
    }
    addEventListener('keydown', listen)
    return () => removeEventListener('keydown', listen)
  }, [key, act])
}

const isMac = /^Mac/.test(navigator.platform)

/** Runs `act` for Ctrl K, or Cmd K on a Mac, in fields too, unless a dialog is open. */
export function useCommandK(act: (() => void) | undefined): void {
  useEffect(() => {
    if (act === undefined) return undefined
    const listen = (event: KeyboardEvent) => {
      const isCommand = isMac ? event.metaKey && !event.ctrlKey : event.ctrlKey && !event.metaKey
      if (!isCommand || event.altKey || event.shiftKey || event.key.toLowerCase() !== 'k') return
      if (event.defaultPrevented || isDialogOpen()) return
      event.preventDefault()
      act()
    }
    addEventListener('keydown', listen)
    return () => removeEventListener('keydown', listen)
  }, [act])
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

function isDialogOpen(): boolean {
  return document.querySelector('[role="dialog"], [role="alertdialog"]') !== null
}
