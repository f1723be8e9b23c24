import { observable } from '../ui/observable.ts'
import { inBrowser } from '../ui/persist.ts'
import { type SessionLife, tellOtherTabs } from './other-tabs.ts'

/** How long the session lasts, by the last answer; undefined without a session. */
export const sessionLife = observable<SessionLife | undefined>(undefined)

const endSetting = 'session-end'

/** Whether this browser knows of a session that has not ended. */
export function isRemembered(): boolean {
  return Number(inBrowser.read(endSetting)) > Date.now()
}

export function forgetEnd(): void {
  inBrowser.write(endSetting, '')
}

/** Reads from an answer how long the session lasts. */
export function recordLife(answer: Response): void {
  const idle = Date.parse(answer.headers.get('session-idle-expires') ?? '')
  const end = Date.parse(answer.headers.get('session-expires') ?? '')
  const serverNow = Date.parse(answer.headers.get('date') ?? '')
  if (Number.isNaN(idle) || Number.isNaN(end)) return
  const now = Date.now()
  const ahead = Number.isNaN(serverNow) ? 0 : now - serverNow
  // The Date header has whole seconds, so a small difference means nothing.
  const correction = Math.abs(ahead) < 2_000 ? 0 : ahead
  const life = { idleEndsAt: idle + correction, endsAt: end + correction, heardAt: now }
  // An answer that did not count as use of the session changes nothing.
  if (Math.abs(life.idleEndsAt - (sessionLife.get()?.idleEndsAt ?? 0)) < 2_000) return
  sessionLife.set(life)
  inBrowser.write(endSetting, String(Math.min(life.idleEndsAt, life.endsAt)))
  tellOtherTabs({ kind: 'life', life: life })
}
