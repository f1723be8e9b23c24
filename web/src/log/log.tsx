import './log.css'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useMay } from '../auth/session.ts'
import { ReadFailure } from '../ui/failure.tsx'
import { Denied, Note } from '../ui/note.tsx'
import { PageHead } from '../ui/page-title.tsx'
import { Pager } from '../ui/pager.tsx'
import { defaultPageSize, onPage, withPageSize } from '../ui/paging.ts'
import { LogEntry } from './event.tsx'
import { LogFilter } from './filter.tsx'
import { Proof } from './proof.tsx'
import { contradictionQuery, logQuery } from './queries.ts'
import { isFiltered, type LogSearch } from './search.ts'

const route = getRouteApi('/signed-in/settings/log')

/** Changes of orders, accounts, roles and the policy, newest first. */
export function LogView() {
  const may = useMay('Log.Read')
  return (
    <>
      <PageHead
        title="Log"
        lead="Events appear within two seconds. Each is numbered and chained to all earlier entries."
      >
        {may && <Proof />}
      </PageHead>
      {may ? <Log /> : <Denied what="read the log" />}
    </>
  )
}

function Log() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const go = (next: LogSearch) => void navigate({ search: next })
  return (
    <div className="stack gap-5">
      <Contradiction />
      <LogFilter search={search} onChange={go} />
      <Events search={search} onGo={go} />
    </div>
  )
}

/** Only witnesses can know that the database went back to an earlier state. */
function Contradiction() {
  const { data: detail } = useQuery(contradictionQuery)
  if (!detail) return null
  const lines = [
    'The database seems to have gone back to an earlier state. New events wait until an operator has restored the log.',
    detail,
  ]
  return <Note kind="bad" role="status" title="Witnesses contradict this log" lines={lines} />
}

function Events({ search, onGo }: { search: LogSearch; onGo(next: LogSearch): void }) {
  const query = useQuery(logQuery(search))
  const { data, failureReason, isPlaceholderData } = query
  const { pageSize = defaultPageSize, pageNumber = 1 } = search
  const failure = failureReason !== null && <ReadFailure query={query} />
  if (data === undefined) return failure || <EventsToCome />
  const { items } = data
  return (
    <>
      {failure}
      {failure && isPlaceholderData && <p className="soft">These are earlier results.</p>}
      <section className="card log-card" aria-label="Events" aria-busy={isPlaceholderData}>
        {items.length === 0 ? (
          <Nothing search={search} onGo={onGo} />
        ) : (
          <ol className="log-events lined">
            {items.map((event) => (
              <LogEntry key={event.id} event={event} />
            ))}
          </ol>
        )}
        <Pager
          page={data}
          pageSize={pageSize}
          wantedPage={pageNumber}
          onPage={(page) => onGo(onPage(search, page))}
          onPageSize={(size) => onGo(withPageSize(search, size))}
        />
      </section>
    </>
  )
}

function Nothing({ search, onGo }: { search: LogSearch; onGo(next: LogSearch): void }) {
  return (
    <div className="empty" role="status">
      <h2>{isFiltered(search) ? 'No events match' : 'No events yet'}</h2>
      <button type="button" className="button" onClick={() => onGo({})}>
        Show the whole log
      </button>
    </div>
  )
}

function EventsToCome() {
  return (
    <section className="card log-card" aria-label="Events" aria-busy="true">
      <ol className="log-events lined">
        {Array.from({ length: defaultPageSize }, (_, index) => index).map((key) => (
          <li key={key} className="log-event">
            <span className="skeleton" style={{ width: '38ch' }} />
          </li>
        ))}
      </ol>
    </section>
  )
}
