import { useEffect, useState } from 'react'
import { activities } from '../api/activity.ts'
import { formatTime } from '../ui/format.ts'
import { Note } from '../ui/note.tsx'
import { sessionLife } from './life.ts'
import type { SessionLife } from './other-tabs.ts'
import { endSession, loadSession, refreshSession } from './session.ts'

const minute = 60_000
/** The longest time that a browser's timer can wait. */
const longestWait = 2 ** 31 - 1

/**
 * How long before an end its notice appears: two minutes (idle) or five (absolute), or a quarter of a shorter
 * life.
 */
const idleNotice = ({ idleEndsAt, heardAt }: SessionLife) => Math.min(2 * minute, (idleEndsAt - heardAt) / 4)
const endNotice = 5 * minute
/**
 * How old the last known end of the session may get while the person works: 5 minutes, or a sixth of a
 * shorter life.
 */
const refreshAfter = ({ idleEndsAt, heardAt }: SessionLife) =>
  Math.min(5 * minute, (idleEndsAt - heardAt) / 6)

/** Keeps the session alive only while the person works, and shows when it is about to end. */
export function SessionKeeper() {
  const life = sessionLife.use()
  const now = useClock(life)
  useRefreshOnActivity(life)
  useEffect(() => {
    if (life !== undefined && now >= Math.min(life.idleEndsAt, life.endsAt)) void confirmEnd()
  }, [life, now])
  // Always rendered, because screen readers watch it for changes.
  return (
    <div role="status" className="session-notice no-print">
      {life && <Notice life={life} now={now} />}
    </div>
  )
}

function Notice({ life, now }: { life: SessionLife; now: number }) {
  if (life.endsAt - now <= endNotice) {
    const title = `Your session ends at ${formatTime(life.endsAt)}.`
    return (
      <Note kind="waiting" title={title} lines={['Finish what you are doing, then sign out and back in.']} />
    )
  }
  if (life.idleEndsAt - now > idleNotice(life)) return null
  const end = formatTime(life.idleEndsAt)
  return (
    <Note
      kind="waiting"
      title="Still there?"
      lines={[`You have been inactive for a while and will be signed out at ${end}.`]}
      action={{ name: 'Stay signed in', act: () => void refreshSession().catch(() => undefined) }}
    />
  )
}

/** The current time. It is read again when a notice or an end is due, and when the computer wakes up. */
function useClock(life: SessionLife | undefined): number {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    if (life === undefined) return undefined
    const read = () => setNow(Date.now())
    const dues = [life.idleEndsAt - idleNotice(life), life.idleEndsAt, life.endsAt - endNotice, life.endsAt]
    const next = dues.filter((due) => due > now).sort((a, b) => a - b)[0]
    const timer =
      next === undefined ? undefined : setTimeout(read, Math.min(next - Date.now() + 50, longestWait))
    document.addEventListener('visibilitychange', read)
    return () => {
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', read)
    }
  }, [life, now])
  return now
}

function useRefreshOnActivity(life: SessionLife | undefined): void {
  useEffect(() => {
    // Nothing prolongs a session beyond its absolute end.
    if (life === undefined || life.idleEndsAt >= life.endsAt) return undefined
    let waitsUntil = life.heardAt + refreshAfter(life)
    const act = () => {
      if (Date.now() < waitsUntil) return
      // A success runs this effect again; after a failure it may try again later.
      waitsUntil = Date.now() + Math.min(minute, refreshAfter(life))
      refreshInOneTab().catch(() => undefined)
    }
    for (const activity of activities) addEventListener(activity, act, { passive: true })
    return () => {
      for (const activity of activities) removeEventListener(activity, act)
    }
  }, [life])
}

/**
 * The other tabs learn the session's new end from this one. Without Web Locks, each tab in use asks by
 * itself.
 */
async function refreshInOneTab(): Promise<void> {
  if (!navigator.locks) return refreshSession()
  const options = { ifAvailable: true }
  await navigator.locks.request('countersign.refresh', options, async (lock) => lock && refreshSession())
}

/** The session is over by the clock, so protected content disappears, even without a network. */
async function confirmEnd(): Promise<void> {
  endSession('expired')
  await loadSession('expired', true)
}
