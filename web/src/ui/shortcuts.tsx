import { useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { Button } from 'react-aria-components/Button'
import { useMay } from '../auth/session.ts'
import { KeyboardIcon } from './icons.tsx'
import { ModalDialog } from './modal.tsx'
import { observable } from './observable.ts'
import { readSetting, writeSetting } from './settings.ts'

const shortcuts = [
  ['Ctrl K', 'Go to a view, an order, a page or an action (⌘ K on a Mac)'],
  ['/', 'Search the orders'],
  ['n', 'New order'],
  ['o', 'Orders'],
  ['h', 'Overview'],
  ['j k', 'Next and previous row, or order'],
  ['x', 'Select the row'],
  ['v', 'Review the orders of the list, one after the other'],
  ['a', 'Approve the open order, the selected orders, or the one in focus'],
  ['r', 'Reject the open order'],
  ['u', 'Undo a decision that has not been sent yet'],
  ['l', 'Views of the list'],
  ['e', 'Export the list'],
  ['?', 'List the keys'],
] as const

const areOn = observable(readSetting('shortcuts') !== 'off')

function turn(on: boolean): void {
  areOn.set(on)
  writeSetting('shortcuts', on ? 'on' : 'off')
}

/** What the keys do on the page that is shown. */
const live = new Map<string, () => void>()

/** Those of the list that do something now. */
export function liveShortcuts(): { keys: string; meaning: string; act(): void }[] {
  return shortcuts.flatMap(([keys, meaning]) => {
    const act = live.get(keys.split(' ')[0] ?? '')
    return act ? [{ keys, meaning, act }] : []
  })
}

/**
 * Runs `act` when the person presses the single key, outside of fields and dialogs (WCAG 2.2, 2.1.4: can be turned
 * off). Without `act` the key does nothing.
 */
export function useShortcut(key: string, act: ((event?: KeyboardEvent) => void) | undefined): void {
  useEffect(() => {
    if (act === undefined) return undefined
    live.set(key, act)
    const listen = (event: KeyboardEvent) => {
      if (event.key !== key || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented)
        return
      if (!areOn.get() || isBusy(event.target)) return
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

const typed = 'input:not([type="checkbox"], [type="radio"], [type="range"]), textarea, select'

/** Somebody types, or has a question to answer. */
export function isBusy(target: EventTarget | null): boolean {
  const isTyping = target instanceof Element && target.closest(typed) !== null
  return isTyping || isDialogOpen()
}

export function isDialogOpen(): boolean {
  return document.querySelector('[role="dialog"], [role="alertdialog"]') !== null
}

/** The keys that work everywhere, and the button that lists them. */
export function Shortcuts() {
  const [isOpen, setOpen] = useState(false)
  const isOn = areOn.use()
  const navigate = useNavigate()
  const mayCreate = useMay('Orders.Create')
  useShortcut('?', () => setOpen(true))
  useShortcut('o', () => void navigate({ to: '/orders' }))
  useShortcut('h', () => void navigate({ to: '/' }))
  useShortcut('n', mayCreate ? () => void navigate({ to: '/orders/new' }) : undefined)
  return (
    <>
      <Button className="side-link" onPress={() => setOpen(true)}>
        <KeyboardIcon />
        <span>Keyboard</span>
      </Button>
      <ModalDialog title="Keyboard" isOpen={isOpen} onOpenChange={setOpen}>
        <dl className="shortcut-list">
          {shortcuts.map(([keys, meaning]) => (
            <div key={keys}>
              <dt>
                {keys.split(' ').map((key) => (
                  <kbd key={key} className="key">
                    {key}
                  </kbd>
                ))}
              </dt>
              <dd>{meaning}</dd>
            </div>
          ))}
        </dl>
        <label className="check">
          <input type="checkbox" checked={isOn} onChange={(event) => turn(event.target.checked)} /> Use these
          shortcuts
        </label>
        <div className="row dialog-actions">
          <Button className="button" slot="close">
            Close
          </Button>
        </div>
      </ModalDialog>
    </>
  )
}
