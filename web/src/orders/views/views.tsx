import './views.css'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { Button } from 'react-aria-components/Button'
import { Heading } from 'react-aria-components/Dialog'
import { useMay } from '../../auth/session.ts'
import { FailureNote } from '../../ui/failure.tsx'
import { EditIcon, ViewsIcon } from '../../ui/icons.tsx'
import { ModalDialog } from '../../ui/modal.tsx'
import { Name } from '../../ui/name.tsx'
import { useShortcut } from '../../ui/shortcuts.ts'
import type { ListSearch } from '../address/address.ts'
import { ChangeView, NewView } from './form.tsx'
import { searchOf, useViews, type View, viewOf, viewsQuery } from './queries.ts'

/** Opens, saves and changes views of the list. Its name is the view that the list shows, if any. */
export function ViewsButton({ search }: { search: ListSearch }) {
  const [isOpen, setOpen] = useState(false)
  const current = viewOf(search, useViews())
  const trigger = useRef<HTMLButtonElement>(null)
  useShortcut('l', () => setOpen(true))
  function close() {
    setOpen(false)
    // The link that was pressed is gone.
    setTimeout(() => trigger.current?.focus())
  }
  return (
    <>
      <Button
        ref={trigger}
        className="button views-button"
        aria-keyshortcuts="l"
        {...(current && { 'aria-label': `View: ${current.name}` })}
        onPress={() => setOpen(true)}
      >
        <ViewsIcon />
        {current ? <Name of={current.name} className="clip" /> : 'Views'}
      </Button>
      <ModalDialog isOpen={isOpen} onOpenChange={setOpen}>
        <Views search={search} current={current} onClose={close} />
      </ModalDialog>
    </>
  )
}

interface ViewsProps {
  search: ListSearch
  current: View | undefined
  onClose(): void
}

/** What the dialog shows: all views, a new one, or the id of one to change. */
type Place = 'all' | 'new' | { id: string }

function Views({ search, current, onClose }: ViewsProps) {
  const [place, setPlace] = useState<Place>('all')
  const { failureReason, refetch } = useQuery(viewsQuery)
  const toAll = () => setPlace('all')
  if (place === 'new') return <NewView search={search} onDone={toAll} />
  if (place !== 'all') return <ChangeView id={place.id} search={search} onDone={toAll} />
  return (
    <>
      <Heading slot="title" level={2}>
        Views
      </Heading>
      {failureReason !== null && <FailureNote failure={failureReason} onRetry={() => void refetch()} />}
      <Lists current={current} onOpen={onClose} onChange={(id) => setPlace({ id })} />
      <div className="row dialog-actions">
        <Button className="button button-primary" onPress={() => setPlace('new')}>
          Save this list as a view
        </Button>
        <Button className="button" slot="close">
          Close
        </Button>
      </div>
    </>
  )
}

interface ListsProps {
  current: View | undefined
  onOpen(): void
  onChange(id: string): void
}

/** With more, a search field helps. */
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
        <Group {...props} title="Yours" views={found.filter(({ isOwn }) => isOwn)} />
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
