import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type Absence, absenceQuery } from '../auth/absence.ts'
import { formatExactInstant, formatInstant } from '../ui/format.ts'
import { useNow } from '../ui/moment.tsx'
import { Name } from '../ui/name.tsx'

/** Says at the top of every view who stands in for whom, as long as it lasts. */
export function StandingIn() {
  const { data, dataUpdatedAt } = useQuery(absenceQuery)
  // An absence that has just been set begins before the next tick.
  const now = Math.max(useNow(), dataUpdatedAt)
  const isAway = data?.from != null && Date.parse(data.from) <= now && isAhead(data.until, now)
  const absent = data?.standingInFor.filter(({ until }) => isAhead(until, now)) ?? []
  // Always rendered, because screen readers watch it for changes.
  return (
    <div role="status" className="soft small standing-in no-print">
      {data && isAway && (
        <p>
          <AbsenceInWords absence={data} whose="you" /> <Link to="/account">Change</Link>
        </p>
      )}
      {absent.map(({ id, name, until }) => (
        <p key={id}>
          You stand in for <Name of={name} /> until <Instant at={until} />.
        </p>
      ))}
    </div>
  )
}

const isAhead = (instant: string | null, now: number) => instant !== null && now < Date.parse(instant)

/** Such as "bo stands in for you until 4 Jan 2027, 09:00." */
export function AbsenceInWords({ absence, whose }: { absence: Absence; whose: string }) {
  const { from, until, deputy } = absence
  const now = useNow()
  if (from === null || until === null || deputy === null) return null
  return (
    <>
      <Name of={deputy} /> stands in for <Name of={whose} />
      {isAhead(from, now) && (
        <>
          {' '}
          from <Instant at={from} />
        </>
      )}{' '}
      until <Instant at={until} />.
    </>
  )
}

function Instant({ at }: { at: string }) {
  return (
    <time dateTime={at} title={formatExactInstant(at)}>
      {formatInstant(at)}
    </time>
  )
}
