import { useEffect, useRef } from 'react'
import { WithCode } from '../../ui/with-code.tsx'
import type { Completion } from './completion.ts'

export const completionsId = 'search-completions'
export const completionId = (index: number) => `search-completion-${index}`

/** Completions of the search; the focus stays in the search box. */
export function Completions({
  completions,
  active,
  onAccept,
  message,
}: {
  completions: readonly Completion[]
  active: number
  onAccept(completion: Completion): void
  /** The fault in the text. Screen readers find it in the element that this list covers. */
  message: string | undefined
}) {
  const list = useRef<HTMLDivElement>(null)
  useEffect(() => {
    list.current?.children[active]?.scrollIntoView({ block: 'nearest' })
  }, [active])
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the input keeps the focus
    <div className="box search-popup" onPointerDown={keepFocus} onMouseDown={keepFocus}>
      {message !== undefined && (
        <p className="soft small" aria-hidden="true">
          <WithCode text={message} />
        </p>
      )}
      <div ref={list} id={completionsId} role="listbox" aria-label="Suggestions">
        {completions.map((completion, index) => (
          // biome-ignore lint/a11y/useFocusableInteractive: aria-activedescendant points to it
          // biome-ignore lint/a11y/useKeyWithClickEvents: the input has the keys
          <div
            key={completion.insert}
            id={completionId(index)}
            role="option"
            aria-selected={index === active}
            className="option"
            onClick={() => onAccept(completion)}
          >
            <code>{completion.insert}</code>
            <span className="soft">{completion.hint}</span>
          </div>
        ))}
      </div>
      <div className="row soft small search-keys" aria-hidden="true">
        <span>
          <kbd className="key">↑</kbd> <kbd className="key">↓</kbd> choose
        </span>
        <span>
          <kbd className="key">Tab</kbd> insert
        </span>
        <span>
          <kbd className="key">Enter</kbd> search
        </span>
      </div>
    </div>
  )
}

function keepFocus(event: { preventDefault(): void }): void {
  event.preventDefault()
}
