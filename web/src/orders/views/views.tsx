import './views.css'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { Button } from 'react-aria-components/Button'
import { Heading } from 'react-aria-components/Heading'
import { useMay } from '../../auth/session.ts'
import { ReadFailure } from '../../ui/failure.tsx'
import { EditIcon } from '../../ui/icons.tsx'
import { Name } from '../../ui/name.tsx'
import type { ListSearch } from '../address/address.ts'
import { ChangeView, NewView } from './form.tsx'
import { searchOf, useViews, type View, viewsQuery } from './queries.ts'

interface ViewsProps {
  search: ListSearch
  /** The view that the list shows. */
  current: View | undefined
  onOpen(): void
  /** Shown below the views. */
  children: ReactNode
}

/** What the menu shows: everything, a new view, or the id of a view to change. */
type Place = 'all' | 'new' | { id: string }

/** Opens, saves and changes views of the list. */
export function Views({ search, current, onOpen, children }: ViewsProps) {
  const [place, setPlace] = useState<Place>('all')
  const query = useQuery(viewsQuery)
  const toAll = () => setPlace('all')
  if (place === 'new') return <NewView search={search} onDone={toAll} />
  if (place !== 'all') return <ChangeView id={place.id} search={search} onDone={toAll} />
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
      <Lists current={current} onOpen={onOpen} onChange={(id) => setPlace({ id })} />
      {children}
      <Button className="button end" slot="close">
        Close
      </Button>
    </>
  )
}

interface ListsProps {
  current: View | undefined
  onOpen(): void
  onChange(id: string): void
}

/** With more views than this, a search field helps. */
const mostAtAGlance = 12

function Lists(props: ListsProps) {
  const views = useViews()
  const [wanted, setWanted] = useState('')
  const found = views.filter(({ name }) => name.toLowerCase().includes(wanted.trim().toLowerCase()))
  if (views.length === 0) {
    return <p className="soft">A view saves this list’s search, sort order and columns under a name.</p>
  }
  return (
    <>
      {views.length > mostAtAGlance && (
        <input
          className="input"
          type="search"
          aria-label="Find a view"
          placeholder="Find a view"
          value={wanted}
          onChange={({ target }) => setWanted(target.value)}
        />
      )}
      {found.length === 0 && <p className="soft">No view has that name.</p>}
      <div className="stack views-lists">
        <Group {...props} title="Your views" views={found.filter(({ isOwn }) => isOwn)} />
        <Group {...props} title="Shared by others" views={found.filter(({ isOwn }) => !isOwn)} />
      </div>
    </>
  )
}

function Group({
  title,
  views,
  current,
  onOpen,
  onChange,
}: ListsProps & { title: string; views: readonly View[] }) {
  const mayShare = useMay('Views.Share')
  if (views.length === 0) return null
  return (
    <section aria-label={title}>
      <h3 className="soft small">{title}</h3>
      <ul>
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
              {(view.shared || !view.isOwn) && (
                <span className="soft small">
                  {view.isOwn ? 'shared' : <>by {<Name of={view.owner} />}</>}
                </span>
              )}
            </Link>
            {(mayShare || (view.isOwn && !view.shared)) && (
              <Button
                className="button button-quiet button-small button-icon"
                aria-label={`Change ${view.name}`}
                onPress={() => onChange(view.id)}
              >
                <EditIcon />
              </Button>
            )}
          </li>
        ))}
      </ul>
    </section>
  )
}
