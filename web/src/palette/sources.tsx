import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useMayDecide } from '../auth/absence.ts'
import { useMay } from '../auth/session.ts'
import { mineOldestFirst } from '../orders/address/queries.ts'
import { stateNames } from '../orders/states.ts'
import { searchOf, useViews } from '../orders/views/queries.ts'
import { formatCount } from '../ui/format.ts'
import { liveShortcuts } from '../ui/shortcuts.ts'
import { turnTheme } from '../ui/theme.ts'
import { waiting } from '../ui/waiting.ts'
import type { Destination, Entry } from './matching.ts'

/** All entries except orders: pages, views, and actions of the page behind the palette. */
export function useEntries(pages: readonly Destination[]): Entry[] {
  const goingTo = [...useGoingTo(pages), ...useKeptViews()]
  // As of when the palette opened.
  const [actions] = useState(actionsHere)
  // The keys of pages are shown with the pages.
  const pageKeys = goingTo.map(({ keys }) => keys)
  return [...goingTo, ...actions.filter(({ keys }) => keys === undefined || !pageKeys.includes(keys))]
}

function useGoingTo(pages: readonly Destination[]): Entry[] {
  const navigate = useNavigate()
  const toPages = pages.map(
    ({ to, name, key }): Entry => ({
      id: `page ${to}`,
      group: 'Pages',
      name,
      ...(key && { keys: key }),
      run: () => void navigate({ to }),
    }),
  )
  const states = stateNames.map(
    (name): Entry => ({
      id: `state ${name}`,
      group: 'Pages',
      name: `${name} orders`,
      run: () => void navigate({ to: '/orders', search: { filter: `status=${name}` } }),
    }),
  )
  const count = waiting.use()
  const mine: Entry = {
    id: 'mine',
    group: 'Pages',
    name: 'Orders waiting for you',
    ...(count > 0 && { hint: formatCount(count) }),
    run: () => void navigate({ to: '/orders', search: mineOldestFirst }),
  }
  const mayDecide = useMayDecide()
  return useMay('Orders.Read') ? [...toPages, ...(mayDecide ? [mine] : []), ...states] : toPages
}

function useKeptViews(): Entry[] {
  const navigate = useNavigate()
  return useViews().map(
    (view): Entry => ({
      id: `view ${view.id}`,
      group: 'Views',
      name: view.name,
      ...(!view.isOwn && { hint: 'shared' }),
      run: () => void navigate({ to: '/orders', search: searchOf(view) }),
    }),
  )
}

/** The actions that have a key on the page that is shown. */
function actionsHere(): Entry[] {
  const ofKeys = liveShortcuts().map(
    ({ keys, meaning, act }): Entry => ({
      id: `key ${keys}`,
      group: 'Actions',
      name: meaning,
      keys,
      run: act,
    }),
  )
  return [...ofKeys, { id: 'theme', group: 'Actions', name: 'Change theme', run: turnTheme }]
}
