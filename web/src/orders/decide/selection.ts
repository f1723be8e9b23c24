import { useCallback, useEffect, useMemo } from 'react'
import { onForget } from '../../auth/session.ts'
import { observable } from '../../ui/observable.ts'
import type { OrderSummary } from '../order.ts'
import { type Chosen, chosenWith, stillPending, without } from './chosen.ts'

interface Selection {
  filter: string
  chosen: Chosen
}

const noneChosen: Chosen = new Map()
const nothing: Selection = { filter: '', chosen: noneChosen }
const selection = observable(nothing)

onForget(() => selection.set(nothing))

/** Deselects orders that need nothing more, wherever they were decided. */
export function deselect(ids: readonly string[]): void {
  const { filter, chosen } = selection.get()
  selection.set({ filter, chosen: without(chosen, ids) })
}

function chosenOf(filter: string, { filter: ofFilter, chosen }: Selection): Chosen {
  return filter === ofFilter ? chosen : noneChosen
}

/** The chosen orders of one search, read-only. */
export function useChosen(filter: string): Chosen {
  return chosenOf(filter, selection.use())
}

/** The chosen orders of one search. They stay while the person pages, sorts or looks at an order. */
export function useSelection(filter: string, orders: readonly OrderSummary[]) {
  const chosen = useChosen(filter)
  const turn = useCallback(
    (next: (chosen: Chosen) => Chosen) => {
      const before = chosenOf(filter, selection.get())
      const after = next(before)
      if (after !== before) selection.set({ filter, chosen: after })
    },
    [filter],
  )
  useEffect(() => turn((before) => stillPending(before, orders)), [turn, orders])
  return useMemo(
    () => ({
      chosen,
      choose: (some: readonly OrderSummary[], isChosen: boolean) =>
        turn((before) => chosenWith(before, some, isChosen)),
      clear: () => turn(() => noneChosen),
    }),
    [chosen, turn],
  )
}
