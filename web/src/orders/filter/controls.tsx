import { type ReactNode, useRef, useState } from 'react'
import { announce } from '../../ui/announce.ts'
import { Segments } from '../../ui/segments.tsx'
import { useShortcut } from '../../ui/shortcuts.ts'
import { WithCode } from '../../ui/with-code.tsx'
import { type StateName, stateNames } from '../states.ts'
import { SearchBox } from './box.tsx'
import { DayRange } from './day-range.tsx'
import { requiredDays, withDays } from './days.ts'
import { type Fault, isUnfinished, lengthFault, type Refusal } from './fault.ts'
import { requiredStatus, withStatus } from './restrictions.ts'
import { isHalfTyped } from './text.ts'
import { type Apply, useSearchText } from './typing.ts'

const messageId = 'search-message'

interface ControlsProps {
  /** In the address. */
  filter: string
  /** That of the orders on the screen: as in the address, unless that one is refused or loading. */
  shownFilter: string
  /** Why the service refuses it. */
  refusal: Refusal | undefined
  onApply: Apply
  /** Before the statuses. */
  views: ReactNode
  /** Below the box while nothing is wrong with the search. */
  children: ReactNode
}

/** Everything that decides which orders are listed: the search box, the statuses and the days. */
export function ListControls({ filter, shownFilter, refusal, onApply, views, children }: ControlsProps) {
  const input = useRef<HTMLInputElement>(null)
  const [hasFocus, setFocus] = useState(false)
  const { text, type, decide, startGo } = useSearchText(filter, onApply)
  useShortcut('/', () => selectAll(input.current))
  const trouble = troubleOf(text, filter, refusal, hasFocus)

  function show({ position, length }: Fault) {
    const box = input.current
    box?.focus()
    box?.setSelectionRange(position, position + length)
    // The browser scrolls only to what is typed.
    const mark = box?.parentElement?.querySelector<HTMLElement>('.search-fault')
    if (box && mark) box.scrollLeft = mark.offsetLeft - box.clientWidth / 2
  }
  /**
   * Goes on with the new text; `null`: the text already restricts it in a way that cannot be changed here.
   */
  function edit(what: string, next: string | null, goOn: (text: string) => void) {
    if (next !== null) return goOn(next)
    announce(`Your search already limits the ${what}. Change it there.`)
    selectAll(input.current)
  }
  return (
    <>
      <div className="list-controls">
        <SearchBox
          text={text}
          fault={trouble?.isOfThisText ? trouble.fault : undefined}
          isSoft={trouble?.isSoft ?? false}
          isInvalid={trouble !== undefined && !trouble.isSoft}
          messageId={messageId}
          message={trouble?.detail}
          input={input}
          onType={type}
          onDecide={decide}
          onFocus={() => {
            startGo()
            setFocus(true)
          }}
          onBlur={() => setFocus(false)}
        />
        {views}
        <StatusFilter
          text={text}
          shownFilter={shownFilter}
          onChoose={(status) => edit('status', withStatus(text, status), decide)}
        />
        <DayRange
          name="Created"
          days={requiredDays(text)}
          onChoose={(days) => edit('date', withDays(text, days), type)}
          onFocus={startGo}
        />
      </div>
      <div className="row nowrap list-strip">
        <div id={messageId} className="list-message">
          {trouble && <Message {...trouble} onShow={show} />}
        </div>
        {!trouble && children}
      </div>
    </>
  )
}

/** Not every browser focuses what is selected. */
function selectAll(box: HTMLInputElement | null): void {
  box?.focus()
  box?.select()
}

interface Trouble extends Refusal {
  /** The box holds the refused text, unchanged. */
  isOfThisText: boolean
  isSoft: boolean
}

/** Soft while the person is still typing. Positions are those of the text in the box. */
function troubleOf(
  text: string,
  filter: string,
  refusal: Refusal | undefined,
  hasFocus: boolean,
): Trouble | undefined {
  const tooLong = lengthFault(text)
  if (tooLong) return { detail: tooLong.detail, fault: tooLong, isOfThisText: true, isSoft: false }
  if (isHalfTyped(text) && text.trim() !== filter) {
    return { detail: 'Keep typing, or press Enter to search for this.', isOfThisText: true, isSoft: true }
  }
  if (refusal === undefined) return undefined
  const isOfThisText = text.trim() === filter
  const indent = isOfThisText ? text.length - text.trimStart().length : 0
  const fault = refusal.fault && { ...refusal.fault, position: refusal.fault.position + indent }
  const isSoft = hasFocus && (!isOfThisText || (fault !== undefined && isUnfinished(fault, text)))
  return { detail: refusal.detail, ...(fault && { fault }), isOfThisText, isSoft }
}

function Message({ detail, fault, isSoft, onShow }: Trouble & { onShow(fault: Fault): void }) {
  const className = `bare wrap small search-message ${isSoft ? 'search-message-soft' : ''}`
  const words = (
    <>
      <WithCode text={detail} />
      {fault && fault.expected.length > 0 && (
        <span className="search-expected">
          {' '}
          Expected: <WithCode text={fault.expected.map((word) => `\`${word}\``).join(', ')} />
        </span>
      )}
    </>
  )
  if (!fault) return <p className={className}>{words}</p>
  return (
    <button
      type="button"
      className={className}
      title="Go to this part of the search"
      onClick={() => onShow(fault)}
    >
      {words}
    </button>
  )
}

interface StatusFilterProps {
  text: string
  shownFilter: string
  onChoose(status: StateName | null): void
}

const statuses = [{ label: 'All', value: null }, ...stateNames.map((name) => ({ label: name, value: name }))]

/** One press for each status. It changes only that part of the search text. */
function StatusFilter({ text, shownFilter, onChoose }: StatusFilterProps) {
  // Half a search says nothing about the status: the orders on the screen do.
  const basis = withStatus(text, null) === null ? shownFilter : text
  const current = requiredStatus(basis)
  const isAll = current === null && withStatus(basis, null) === basis.trim()
  const value = current ?? (isAll ? null : undefined)
  return <Segments name="list-status" legend="Status" options={statuses} value={value} onChoose={onChoose} />
}
