import './palette.css'
import { type KeyboardEvent, useEffect, useRef, useState } from 'react'
import { Button } from 'react-aria-components/Button'
import { Dialog } from 'react-aria-components/Dialog'
import { Modal, ModalOverlay } from 'react-aria-components/Modal'
import { SearchIcon } from '../ui/icons.tsx'
import { isDialogOpen } from '../ui/shortcuts.ts'
import { useFoundOrders } from './found-orders.ts'
import { type Destination, type Entry, grouped, matching } from './matching.ts'
import { useEntries } from './sources.tsx'

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
      <ModalOverlay
        className="dialog-scrim palette-scrim"
        isOpen={isOpen}
        onOpenChange={setOpen}
        isDismissable
      >
        <Modal className="dialog palette">
          <Dialog aria-label="Search or go to">
            <Box pages={pages} onRun={run} />
          </Dialog>
        </Modal>
      </ModalOverlay>
    </>
  )
}

const listId = 'palette-list'
const optionId = (index: number) => `palette-option-${index}`

function Box({ pages, onRun }: { pages: readonly Destination[]; onRun(entry: Entry): void }) {
  const [text, setText] = useState('')
  const orders = useFoundOrders(text)
  const entries = [...matching(useEntries(pages), text), ...orders.entries]
  const groups = grouped(entries)
  const shown = groups.flatMap((group) => group.entries)
  // By id, so that later results do not move the choice to another entry.
  const [chosen, setChosen] = useState<string>()
  const active = Math.max(
    0,
    shown.findIndex(({ id }) => id === chosen),
  )
  function press(event: KeyboardEvent) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    const entry = shown[active]
    if (event.nativeEvent.isComposing || shown.length === 0) return
    if (step !== undefined) setChosen(shown[(active + step + shown.length) % shown.length]?.id)
    else if (event.key === 'Enter' && entry) onRun(entry)
    else return
    event.preventDefault()
  }
  return (
    <>
      <div className="row nowrap gap-3 soft palette-box">
        <SearchIcon />
        <input
          type="text"
          className="bare grow"
          role="combobox"
          aria-label="Search or go to a view, order, page or action"
          aria-expanded={shown.length > 0}
          aria-controls={listId}
          aria-autocomplete="list"
          aria-activedescendant={shown.length > 0 ? optionId(active) : undefined}
          placeholder="Customer, order number, view, page or action"
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          dir="auto"
          // biome-ignore lint/a11y/noAutofocus: it is what the dialog is for
          autoFocus
          value={text}
          onChange={({ target }) => {
            setText(target.value)
            setChosen(undefined)
          }}
          onKeyDown={press}
        />
      </div>
      <List groups={groups} shown={shown} active={active} onRun={onRun} />
      <p className="palette-said soft small" role="status">
        {said(shown.length, orders.state)}
      </p>
    </>
  )
}

function said(count: number, state: ReturnType<typeof useFoundOrders>['state']): string {
  if (state === 'searching') return 'Searching orders …'
  if (state === 'failed') return 'Orders could not be searched.'
  if (count === 0)
    return state === 'none'
      ? 'Nothing found. Type at least three letters to search orders.'
      : 'Nothing found.'
  return `${count} found`
}

interface ListProps {
  groups: ReturnType<typeof grouped>
  shown: readonly Entry[]
  active: number
  onRun(entry: Entry): void
}

/** The focus stays in the box. */
function List({ groups, shown, active, onRun }: ListProps) {
  const list = useRef<HTMLDivElement>(null)
  useEffect(() => {
    list.current?.querySelector(`#${optionId(active)}`)?.scrollIntoView({ block: 'nearest' })
  }, [active])
  return (
    <div
      ref={list}
      id={listId}
      className="palette-list"
      role="listbox"
      aria-label="Found"
      onMouseDown={(event) => event.preventDefault()}
    >
      {groups.map(({ group, entries }) => (
        // biome-ignore lint/a11y/useSemanticElements: a fieldset is no part of a list
        <div key={group} role="group" aria-labelledby={`palette-${group}`}>
          <p id={`palette-${group}`} className="palette-group label soft small">
            {group}
          </p>
          {entries.map((entry) => (
            <Option
              key={entry.id}
              entry={entry}
              index={shown.indexOf(entry)}
              isActive={shown[active] === entry}
              onRun={onRun}
            />
          ))}
        </div>
      ))}
    </div>
  )
}

interface OptionProps {
  entry: Entry
  index: number
  isActive: boolean
  onRun(entry: Entry): void
}

function Option({ entry, index, isActive, onRun }: OptionProps) {
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: aria-activedescendant points to it
    // biome-ignore lint/a11y/useKeyWithClickEvents: the input has the keys
    <div
      id={optionId(index)}
      role="option"
      aria-selected={isActive}
      className="option"
      onClick={() => onRun(entry)}
    >
      <bdi className="palette-name wrap">{entry.name}</bdi>
      {entry.hint && <span className="soft small">{entry.hint}</span>}
      {entry.keys && (
        <span className="row gap-1 end">
          {entry.keys.split(' ').map((key) => (
            <kbd key={key} className="key">
              {key}
            </kbd>
          ))}
        </span>
      )}
    </div>
  )
}
