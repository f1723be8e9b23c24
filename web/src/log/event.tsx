import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useMay } from '../auth/session.ts'
import { formatCount } from '../ui/format.ts'
import { Moment } from '../ui/moment.tsx'
import { Name } from '../ui/name.tsx'
import type { LogEvent } from './queries.ts'
import { subjectInWords, wordsOf } from './words.ts'

/** Who did what, when, and the proof of it. */
export function LogEntry({ event }: { event: LogEvent }) {
  const { kind, by, text, textHash, atUtc, atTimeZone, sequence, data } = event
  const { verb, more, erased } = wordsOf(kind)
  return (
    <li className="log-event">
      <p className="log-said">
        <strong>
          <Name of={by} />
        </strong>{' '}
        {verb} <Subject event={event}>{subjectInWords(event)}</Subject>
        {more && more(data) !== '' && (
          <>
            {' '}
            <Name of={more(data)} className="soft" />
          </>
        )}
      </p>
      <div className="log-when soft small">
        <Moment instant={atUtc} timeZone={atTimeZone} />
      </div>
      {text !== null && (
        <blockquote className="quote">
          <bdi>{text}</bdi>
        </blockquote>
      )}
      {text === null && textHash !== null && <p className="soft small">{erased ?? 'The text was erased.'}</p>}
      <details className="log-details">
        <summary className="soft small">
          <span className="visually-hidden">Details of log entry </span>#{formatCount(sequence)}
        </summary>
        <Details event={event} />
      </details>
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
  const { subject, kind, by, byId, atUtc, version, id, hash, textHash, textSalt, data } = event
  return (
    <>
      <dl className="facts">
        <Fact name="Time">{atUtc}</Fact>
        <Fact name="Kind">{kind}</Fact>
        <Fact name="By">{byId === null ? by : `${by} (account ${byId})`}</Fact>
        <Fact name="Subject">{`${subject.kind} ${subject.id}`}</Fact>
        {version !== null && <Fact name="Version">{version}</Fact>}
        <Fact name="Data">
          <code>{JSON.stringify(data)}</code>
        </Fact>
        <Fact name="Event">
          <code>{id}</code>
        </Fact>
        {textHash !== null && (
          <Fact name="Hash of the text">
            <code>{textHash}</code>
          </Fact>
        )}
        {textSalt !== null && (
          <Fact name="Salt of the text">
            <code>{textSalt}</code>
          </Fact>
        )}
        <Fact name="Hash (SHA-256)">
          <code>{hash}</code>
        </Fact>
      </dl>
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

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  )
}
