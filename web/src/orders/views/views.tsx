import './views.css'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { Button } from 'react-aria-components/Button'
import { Heading } from 'react-aria-components/Heading'
import { ReadFailure } from '../../ui/failure.tsx'
import { EditIcon } from '../../ui/icons.tsx'
import { Name } from '../../ui/name.tsx'
import type { ListSearch } from '../address/address.ts'
import { ChangeView, NewView } from './form.tsx'
import { searchOf, useViews, type View, viewsQuery } from './queries.ts'

interface ViewsProps {
  search: ListSearch
  current: View | undefined
  onOpen(): void
  /** Shown below the views. */
  children: ReactNode
}

/** What the menu shows: everything, a new view, or a view to change. */
type Place = 'all' | 'new' | View

export function Views({ search, current, onOpen, children }: ViewsProps) {
  const [place, setPlace] = useState<Place>('all')
  const query = useQuery(viewsQuery)
  const toAll = () => setPlace('all')
  if (place === 'new') return <NewView search={search} onDone={toAll} />
  if (place !== 'all') return <ChangeView view={place} onDone={toAll} />
  return (
    <>
      <div className="row row-between">
        <Heading slot="title" level={2}>
          View
        </Heading>
        <Button className="button button-small" onPress={() => setPlace('new')}>
          Save this list as a view
        </Button>
      </div>
      <ReadFailure query={query} />
      <List current={current} onOpen={onOpen} onChange={setPlace} />
      {children}
      <Button className="button end" slot="close">
        Close
      </Button>
    </>
  )
}

interface ListProps {
  current: View | undefined
  onOpen(): void
  onChange(view: View): void
}

function List({ current, onOpen, onChange }: ListProps) {
  const views = useViews()
  if (views.length === 0) {
    return <p className="soft">A view saves this list’s search, sort order and columns under a name.</p>
  }
  return (
    <ul className="views-list">
      {views.map((view) => (
        <li key={view.id} className="row nowrap gap-1">
          <Link
            to="/orders"
            search={searchOf(view)}
            className="option grow wrap"
            aria-current={view.id === current?.id ? 'true' : undefined}
            activeProps={{}}
            onClick={onOpen}
          >
            <Name of={view.name} />
          </Link>
          <Button
            className="button button-quiet button-small button-icon"
            aria-label={`Change ${view.name}`}
            onPress={() => onChange(view)}
          >
            <EditIcon />
          </Button>
        </li>
      ))}
    </ul>
  )
}
