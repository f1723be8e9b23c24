import { useNavigate } from '@tanstack/react-router'
import { Button } from 'react-aria-components/Button'
import { useMay } from '../auth/session.ts'
import { focusSearch } from '../orders/filter/search-focus.ts'
import { Check } from '../ui/check.tsx'
import { ModalDialog } from '../ui/modal.tsx'
import {
  keysShown,
  shortcuts,
  shortcutsOn,
  turnShortcuts,
  useCommandK,
  useShortcut,
} from '../ui/shortcuts.ts'

/** The keys that work everywhere, and the dialog that lists them all. */
export function Keyboard() {
  const isOpen = keysShown.use()
  const isOn = shortcutsOn.use()
  const navigate = useNavigate()
  const mayCreate = useMay('Orders.Create')
  const mayRead = useMay('Orders.Read')
  const search = mayRead ? () => focusSearch() || void navigate({ to: '/orders' }) : undefined
  useShortcut('/', search)
  useCommandK(search)
  useShortcut('?', () => keysShown.set(true))
  useShortcut('o', () => void navigate({ to: '/orders' }))
  useShortcut('h', () => void navigate({ to: '/' }))
  useShortcut('n', mayCreate ? () => void navigate({ to: '/orders/new' }) : undefined)
  return (
    <ModalDialog title="Keyboard" isOpen={isOpen} onOpenChange={keysShown.set}>
      <dl className="shortcut-list">
        {shortcuts.map(([keys, meaning]) => (
          <div key={keys}>
            <dt className="row nowrap gap-1">
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
      <Check isOn={isOn} onTurn={turnShortcuts}>
        Use these shortcuts
      </Check>
      <div className="row dialog-actions">
        <Button className="button" slot="close">
          Close
        </Button>
      </div>
    </ModalDialog>
  )
}
