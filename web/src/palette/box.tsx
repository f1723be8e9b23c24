import { type KeyboardEvent, useEffect, useRef, useState } from 'react'
import { SearchIcon } from '../ui/icons.tsx'
import { useFoundAccounts } from './found-accounts.ts'
import { type Found, useFoundOrders } from './found-orders.ts'
import { type Destination, type Entry, grouped, matching } from './matching.ts'
import { useEntries } from './sources.tsx'

const listId = 'palette-list'
const optionId = (index: number) => `palette-option-${index}`

/** What the palette's dialog shows. */
export function PaletteBox({ pages, onRun }: { pages: readonly Destination[]; onRun(entry: Entry): void }) {
  const [text, setText] = useState('')
  const orders = useFoundOrders(text)
  const accounts = useFoundAccounts(text)
  const entries = [...matching(useEntries(pages), text), ...orders.entries, ...accounts.entries]
  const groups = grouped(entries)
  const shown = groups.flatMap((group) => group.entries)
  // Kept by id, so that later results do not move the choice to another entry.
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
        {said(shown.length, { Orders: orders, Accounts: accounts })}
      </p>
    </>
  )
}

function said(count: number, searches: Record<'Orders' | 'Accounts', Found>): string {
  const inState = (state: Found['state']) =>
    Object.entries(searches).find(([, search]) => search.state === state)?.[0]
  const [searching, failed] = [inState('searching'), inState('failed')]
  if (searching) return `Searching ${searching.toLowerCase()} …`
  if (failed) return `${failed} could not be searched.`
  if (count === 0)
    return searches.Orders.state === 'none'
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
