import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useMay } from '../auth/session.ts'
import { stateNames } from '../orders/states.ts'
import { searchOf, useViews } from '../orders/views/queries.ts'
import { usePages } from '../ui/pages.tsx'
import { liveShortcuts } from '../ui/shortcuts.tsx'
import { turnTheme } from '../ui/theme.ts'
import type { Entry } from './matching.ts'

/** Everything but orders: what this person may go to, and what the page behind the palette can do. */
export function useEntries(): Entry[] {
  const goingTo = [...useGoingTo(), ...useKeptViews()]
  // Those of the moment in which the palette opened.
  const [actions] = useState(actionsHere)
  // The keys of pages stand beside those.
  const pageKeys = goingTo.map(({ keys }) => keys)
  return [...goingTo, ...actions.filter(({ keys }) => keys === undefined || !pageKeys.includes(keys))]
}

function useGoingTo(): Entry[] {
  const navigate = useNavigate()
  const pages = usePages().map(
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
  return useMay('Orders.Read') ? [...pages, ...states] : pages
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

/** What a key does on the page that is shown. */
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
  return [...ofKeys, { id: 'theme', group: 'Actions', name: 'Change the theme', run: turnTheme }]
}
