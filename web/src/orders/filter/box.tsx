import './box.css'
import { type KeyboardEvent, type RefObject, useRef } from 'react'
import { CloseIcon, SearchIcon } from '../../ui/icons.tsx'
import { useCompletions } from './completing.ts'
import { Completions, completionId, completionsId } from './completions.tsx'
import { Highlight, type HighlightProps } from './highlight.tsx'

interface SearchBoxProps extends HighlightProps {
  isInvalid: boolean
  messageId: string
  /** The same message, for the list of completions, which covers the other one. */
  message: string | undefined
  input: RefObject<HTMLInputElement | null>
  onType(text: string): void
  /** Searches for the text at once. */
  onDecide(text: string): void
  onFocus(): void
  onBlur(): void
}

const fixed = {
  type: 'text',
  'aria-label': 'Search the orders',
  'aria-controls': completionsId,
  'aria-autocomplete': 'list',
  'aria-keyshortcuts': '/ Control+K',
  placeholder: 'Search customers, or filter: total>1000',
  autoComplete: 'off',
  autoCapitalize: 'none',
  spellCheck: false,
  enterKeyHint: 'search',
  dir: 'auto',
} as const

/** One box for plain words and for the filter language, which it completes. */
export function SearchBox(props: SearchBoxProps) {
  const { text, input, onType, onDecide } = props
  const list = useCompletions(text, input, onType)

  function clear() {
    onDecide('')
    input.current?.focus()
  }
  function press(event: KeyboardEvent) {
    if (event.nativeEvent.isComposing || list.press(event)) return
    if (event.key === 'Enter') {
      list.close()
      onDecide(text)
    } else if (event.key === 'Escape' && text !== '') {
      event.preventDefault()
      clear()
    }
  }
  return (
    <search className="row nowrap search">
      <SearchIcon />
      <MarkedInput {...props} list={list} onPress={press} />
      <End isEmpty={text === ''} onClear={clear} />
      {list.isOpen && (
        <Completions
          completions={list.completions}
          active={list.active}
          onAccept={list.accept}
          message={props.message}
        />
      )}
    </search>
  )
}

interface InputProps extends SearchBoxProps {
  list: ReturnType<typeof useCompletions>
  onPress(event: KeyboardEvent): void
}

/** The input, and the mark of a fault behind its text. */
function MarkedInput({ text, fault, isSoft, isInvalid, messageId, input, list, ...props }: InputProps) {
  const highlight = useRef<HTMLDivElement>(null)
  const scrollAlong = () => {
    if (highlight.current && input.current) highlight.current.scrollLeft = input.current.scrollLeft
  }
  return (
    <div className="grow search-text">
      <Highlight ref={highlight} text={text} fault={fault} isSoft={isSoft} />
      <input
        ref={input}
        value={text}
        {...fixed}
        role="combobox"
        aria-expanded={list.isOpen}
        aria-activedescendant={list.active >= 0 ? completionId(list.active) : undefined}
        aria-describedby={messageId}
        aria-invalid={isInvalid}
        onChange={({ currentTarget, nativeEvent }) => {
          props.onType(currentTarget.value)
          list.typed(currentTarget, 'isComposing' in nativeEvent && nativeEvent.isComposing === true)
        }}
        onSelect={({ currentTarget }) => list.moved(currentTarget)}
        onScroll={scrollAlong}
        onKeyDown={props.onPress}
        onFocus={props.onFocus}
        onBlur={() => {
          list.close()
          props.onBlur()
        }}
      />
    </div>
  )
}

/** The key that focuses the box, or a button that empties it. */
function End({ isEmpty, onClear }: { isEmpty: boolean; onClear(): void }) {
  if (isEmpty) {
    return (
      <span className="key soft search-key" aria-hidden="true">
        /
      </span>
    )
  }
  return (
    <button
      type="button"
      className="button button-quiet button-icon"
      aria-label="Clear the search"
      title="Clear (Esc)"
      onClick={onClear}
    >
      <CloseIcon />
    </button>
  )
}
