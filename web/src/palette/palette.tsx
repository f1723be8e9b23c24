import './palette.css'
import { useEffect, useState } from 'react'
import { Button } from 'react-aria-components/Button'
import { SearchIcon } from '../ui/icons.tsx'
import { lazyPart } from '../ui/lazy-view.tsx'
import { ModalDialog } from '../ui/modal.tsx'
import { isDialogOpen } from '../ui/shortcuts.ts'
import type { Destination, Entry } from './matching.ts'

const PaletteBox = lazyPart('PaletteBox', () => import('./box.tsx'))

const isMac = /^Mac/.test(navigator.platform)

/** An entry runs after the dialog has given the focus back, because it may move or use the focus. */
const focusBackMilliseconds = 50

/** One box to reach everything: Ctrl K, or Cmd K on a Mac. */
export function Palette({ pages }: { pages: readonly Destination[] }) {
  const [isOpen, setOpen] = useState(false)
  useEffect(() => {
    const listen = (event: globalThis.KeyboardEvent) => {
      const isCommand = isMac ? event.metaKey && !event.ctrlKey : event.ctrlKey && !event.metaKey
      if (!isCommand || event.altKey || event.shiftKey || event.key.toLowerCase() !== 'k') return
      if (event.defaultPrevented || isDialogOpen()) return
      event.preventDefault()
      setOpen(true)
    }
    addEventListener('keydown', listen)
    return () => removeEventListener('keydown', listen)
  }, [])
  function run(entry: Entry) {
    setOpen(false)
    setTimeout(entry.run, focusBackMilliseconds)
  }
  return (
    <>
      <Button
        className="bare row nowrap gap-3 label soft side-link"
        aria-keyshortcuts={isMac ? 'Meta+K' : 'Control+K'}
        onPress={() => setOpen(true)}
      >
        <SearchIcon />
        <span>Search …</span>
        <span className="key soft end palette-key" aria-hidden="true">
          {isMac ? '⌘ K' : 'Ctrl K'}
        </span>
      </Button>
      <ModalDialog className="palette" aria-label="Search or go to" isOpen={isOpen} onOpenChange={setOpen}>
        <PaletteBox pages={pages} onRun={run} />
      </ModalDialog>
    </>
  )
}
