import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from 'react-aria-components/Button'
import { useMay } from '../auth/session.ts'
import { Check } from '../ui/check.tsx'
import { KeyboardIcon } from '../ui/icons.tsx'
import { ModalDialog } from '../ui/modal.tsx'
import { shortcuts, shortcutsOn, turnShortcuts, useShortcut } from '../ui/shortcuts.ts'

/** The keys that work everywhere, and the button that lists them. */
export function Keyboard() {
  const [isOpen, setOpen] = useState(false)
  const isOn = shortcutsOn.use()
  const navigate = useNavigate()
  const mayCreate = useMay('Orders.Create')
  useShortcut('?', () => setOpen(true))
  useShortcut('o', () => void navigate({ to: '/orders' }))
  useShortcut('h', () => void navigate({ to: '/' }))
  useShortcut('n', mayCreate ? () => void navigate({ to: '/orders/new' }) : undefined)
  return (
    <>
      <Button className="bare row nowrap gap-3 label soft side-link" onPress={() => setOpen(true)}>
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
        <Check isOn={isOn} onTurn={turnShortcuts}>
          Use these shortcuts
        </Check>
        <div className="row dialog-actions">
          <Button className="button" slot="close">
            Close
          </Button>
        </div>
      </ModalDialog>
    </>
  )
}
