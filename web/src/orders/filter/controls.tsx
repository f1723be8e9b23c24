import { type ReactNode, useRef, useState } from 'react'
import { WithCode } from '../../ui/with-code.tsx'
import { SearchBox } from './box.tsx'
import { type Fault, isUnfinished, type Refusal } from './fault.ts'
import { Chips, FilterMenu } from './filter-menu.tsx'
import { useSearchFocus } from './search-focus.ts'
import { isHalfTyped } from './text.ts'
import { type Apply, useSearchText } from './typing.ts'

const messageId = 'search-message'

interface ControlsProps {
  /** The filter in the address. */
  filter: string
  /** Why the service refuses it. */
  refusal: Refusal | undefined
  onApply: Apply
  /** Shown after the filter. */
  view: ReactNode
  /** Shown below the box while nothing is wrong with the search. */
  count: ReactNode
  /** Shown there as well, at the end. */
  children: ReactNode
}

/** Everything that decides which orders are listed: the search box, the filter and the view. */
export function ListControls({ filter, refusal, onApply, view, count, children }: ControlsProps) {
  const input = useRef<HTMLInputElement>(null)
  const filterButton = useRef<HTMLButtonElement>(null)
  const [hasFocus, setFocus] = useState(false)
  const { text, type, decide, startGo } = useSearchText(filter, onApply)
  useSearchFocus(input)
  const trouble = troubleOf(text, filter, refusal, hasFocus)

  function show({ position, length }: Fault) {
    const box = input.current
    box?.focus()
    box?.setSelectionRange(position, position + length)
    // The browser scrolls only to what the person types.
    const mark = box?.parentElement?.querySelector<HTMLElement>('.search-fault')
    if (box && mark) box.scrollLeft = mark.offsetLeft - box.clientWidth / 2
  }
  function mend({ position, length, suggestion = '' }: Fault) {
    decide(text.slice(0, position) + suggestion + text.slice(position + length))
    input.current?.focus()
  }
  return (
    <>
      <div className="row nowrap list-controls">
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
        <FilterMenu
          trigger={filterButton}
          text={text}
          onChoose={decide}
          onChooseDay={type}
          onBegin={startGo}
        />
        {view}
      </div>
      <div className="row list-strip">
        <div id={messageId} className="row list-message">
          {trouble && <Message {...trouble} onShow={show} onMend={mend} />}
        </div>
        {!trouble && (
          <>
            {count}
            <Chips text={text} trigger={filterButton} onChoose={decide} />
            {children}
          </>
        )}
      </div>
    </>
  )
}

interface Trouble extends Refusal {
  /** The box holds the refused text, unchanged. */
  isOfThisText: boolean
  isSoft: boolean
}

/**
 * The fault is shown softly while the person is still typing. Its positions are those of the text in the
 * box.
 */
function troubleOf(
  text: string,
  filter: string,
  refusal: Refusal | undefined,
  hasFocus: boolean,
): Trouble | undefined {
  if (isHalfTyped(text) && text.trim() !== filter) {
    return { detail: 'Keep typing, or search for this.', isOfThisText: true, isSoft: true }
  }
  if (refusal === undefined) return undefined
  const isOfThisText = text.trim() === filter
  const indent = isOfThisText ? text.length - text.trimStart().length : 0
  const fault = refusal.fault && { ...refusal.fault, position: refusal.fault.position + indent }
  const isSoft = hasFocus && (!isOfThisText || (fault !== undefined && isUnfinished(fault, text)))
  return { detail: refusal.detail, ...(fault && { fault }), isOfThisText, isSoft }
}

interface MessageProps extends Trouble {
  onShow(fault: Fault): void
  onMend(fault: Fault): void
}

function Message({ detail, fault, isSoft, isOfThisText, onShow, onMend }: MessageProps) {
  const className = `bare wrap small search-message ${isSoft ? 'search-message-soft' : ''}`
  if (!fault) {
    return (
      <p className={className}>
        <WithCode text={detail} />
      </p>
    )
  }
  return (
    <>
      <button
        type="button"
        className={className}
        title="Go to this part of the search"
        onClick={() => onShow(fault)}
      >
        <WithCode text={detail} />
        {fault.suggestion === undefined && fault.expected.length > 0 && (
          <span className="search-expected">
            {' '}
            Expected: <WithCode text={fault.expected.map((word) => `\`${word}\``).join(', ')} />
          </span>
        )}
      </button>
      {fault.suggestion !== undefined && isOfThisText && (
        <button type="button" className="button button-small" onClick={() => onMend(fault)}>
          Use {fault.suggestion}
        </button>
      )}
    </>
  )
}
