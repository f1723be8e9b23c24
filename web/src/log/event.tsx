import { Link } from '@tanstack/react-router'
import { useId, useState } from 'react'
import { erasedIn, namesIn, valueIn } from '../../../proof/line.ts'
import { useMay } from '../auth/session.ts'
import { Facts } from '../ui/facts.tsx'
import { formatCount, formatExactInstant, formatInstant } from '../ui/format.ts'
import { ArrowIcon } from '../ui/icons.tsx'
import { Moment } from '../ui/moment.tsx'
import { Name, Who } from '../ui/name.tsx'
import type { LogEvent } from './queries.ts'
import { factsOf, subjectInWords, wordsOf } from './words.ts'

/** One line: who did what, and when. Its number opens the details. */
export function LogEntry({ event }: { event: LogEvent }) {
  const [isOpen, setOpen] = useState(false)
  const id = useId()
  const { kind, atUtc, sequence } = event
  const { by, for: absent } = namesIn(event)
  const text = valueIn(event, 'text') ?? valueIn(event, 'documentName')
  const facts = factsOf(event)
  const { verb, more, erased = 'The text was erased.' } = wordsOf(kind)
  const isErased = erasedIn(event).some((name) => name === 'text' || name === 'documentName')
  return (
    <li className="log-event">
      <p className="clip log-said">
        <strong>
          <Who is={by} name={valueIn(event, 'byName')} for={absent} forName={valueIn(event, 'forName')} />
        </strong>{' '}
        {verb} <Subject event={event}>{subjectInWords(event)}</Subject>
        {more && more(facts) !== '' && (
          <>
            {' '}
            <Name of={more(facts)} className="soft" />
          </>
        )}
      </p>
      {text !== null && <Name of={text} className="soft small clip" />}
      {isErased && <span className="soft small clip">{erased}</span>}
      <time className="soft small log-when" dateTime={atUtc} title={formatExactInstant(atUtc)}>
        {formatInstant(atUtc)}
      </time>
      <button
        type="button"
        className="button button-quiet button-small"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
      >
        <span className="visually-hidden">Details of log entry </span>#{formatCount(sequence)}
        <ArrowIcon to={isOpen ? 'up' : 'down'} />
      </button>
      <div id={id} className="log-details">
        {isOpen && <Details event={event} />}
      </div>
    </li>
  )
}

/** Links to the page of the subject, if there is one that this person may see. */
function Subject({ event, children }: { event: LogEvent; children: string }) {
  const { kind, id } = event.subject
  const { account } = wordsOf(event.kind)
  const mayManage = useMay('Accounts.Manage')
  if (kind === 'order') {
    return (
      <Link to="/orders/$id" params={{ id }}>
        <Name of={children} />
      </Link>
    )
  }
  if (account !== undefined && mayManage) {
    return (
      <Link to={account === 'user' ? '/accounts/users/$id' : '/accounts/services/$id'} params={{ id }}>
        <Name of={children} />
      </Link>
    )
  }
  if (kind === 'policy') return <Link to="/approval-policy">{children}</Link>
  return (
    <strong>
      <Name of={children} />
    </strong>
  )
}

function Details({ event }: { event: LogEvent }) {
  const { subject, kind, byId, atUtc, atTimeZone, version, id, hash, data, clear, hashes } = event
  const { by } = namesIn(event)
  const text = valueIn(event, 'text') ?? valueIn(event, 'documentName')
  return (
    <>
      {text !== null && (
        <blockquote className="quote">
          <bdi>{text}</bdi>
        </blockquote>
      )}
      <Facts
        of={{
          When: <Moment instant={atUtc} timeZone={atTimeZone} />,
          'Time (UTC)': atUtc,
          Kind: kind,
          By: byId === null ? by : `${by} (account ${byId})`,
          Subject: (
            <>
              {subject.kind} {code(subject.id)}
            </>
          ),
          Version: version,
          Data: code(JSON.stringify(data)),
          Event: code(id),
          'Names and texts': code(JSON.stringify(clear)),
          'Their hashes': code(JSON.stringify(hashes)),
          'Hash (SHA-256)': code(hash),
        }}
      />
      <p className="row">
        <Link to="/log" search={{ subject: `${subject.kind}:${subject.id}` }} className="button button-small">
          All events of this {subject.kind}
        </Link>
        <Link to="/log" search={{ by }} className="button button-small">
          <span>
            All events by <Name of={by} />
          </span>
        </Link>
      </p>
    </>
  )
}

const code = (text: string | null) => text && <code>{text}</code>
