import type { RefObject } from 'react'
import { announce } from '../../ui/announce.ts'
import { useShortcut } from '../../ui/shortcuts.ts'

const links = 'tbody tr[data-id] a'

/** The id of the row in which an event happened. */
export function rowIdOf(target: EventTarget | null): string | undefined {
  const row = target instanceof Element ? target.closest<HTMLElement>('tr[data-id]') : null
  return row?.dataset.id
}

/** Arrow up and down, from the link of a row to that of its neighbour. */
export function moveFromRow(event: {
  key: string
  target: EventTarget
  currentTarget: Element
  preventDefault(): void
}): void {
  const { key, target, currentTarget } = event
  if (!(target instanceof HTMLAnchorElement) || (key !== 'ArrowDown' && key !== 'ArrowUp')) return
  event.preventDefault()
  move(currentTarget.closest('table'), key === 'ArrowDown' ? 1 : -1)
}

/** Moves from the focused row, or to the first row if none is focused. */
function move(table: HTMLTableElement | null, step: 1 | -1): void {
  const all = [...(table?.querySelectorAll<HTMLAnchorElement>(links) ?? [])]
  const id = rowIdOf(document.activeElement)
  const index = all.findIndex((link) => rowIdOf(link) === id)
  all[index === -1 ? 0 : index + step]?.focus()
}

/** j and k move between rows, x selects the row that has the focus. */
export function useRowKeys(table: RefObject<HTMLTableElement | null>, onToggle: (id: string) => void): void {
  useShortcut('j', () => move(table.current, 1))
  useShortcut('k', () => move(table.current, -1))
  useShortcut('x', () => {
    const row = document.activeElement?.closest<HTMLElement>('tr[data-id]')
    if (!row?.dataset.id || !table.current?.querySelector('thead .orders-select')) return
    if (row.querySelector('input') === null) announce('Only orders that you can approve can be selected.')
    else onToggle(row.dataset.id)
  })
}

/**
 * Focuses the row of the first of these orders that is listed, or else the first row. Returns whether there
 * was one.
 */
export function focusRow(ids: readonly string[], options?: FocusOptions): boolean {
  const rows = [...document.querySelectorAll<HTMLElement>('.orders tr[data-id]')]
  const row = rows.find(({ dataset: { id = '' } }) => ids.includes(id)) ?? rows[0]
  const link = row?.querySelector('a')
  link?.focus(options)
  return link != null
}
