import { useEffect, useState } from 'react'
import { formatAgo, formatExactInstant, formatInstant, formatInstantIn } from './format.ts'

/** An instant in the viewer's time zone, and how long ago; also in its own time zone if that differs. */
export function Moment({ instant, timeZone }: { instant: string; timeZone: string | null }) {
  const now = useNow()
  const here = formatInstant(instant)
  const there = formatInstantIn(instant, timeZone)
  return (
    <>
      <time dateTime={instant} title={formatExactInstant(instant)}>
        {here}
      </time>
      <span className="soft no-print"> · {formatAgo(instant, now)}</span>
      {there !== undefined && there !== here && (
        <div className="soft small">
          {there} in {timeZone?.replaceAll('_', ' ')}
        </div>
      )}
    </>
  )
}

/** The current time, by default updated often enough for "5 minutes ago". */
export function useNow(tick = 30_000): number {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), tick)
    return () => clearInterval(timer)
  }, [tick])
  return now
}
