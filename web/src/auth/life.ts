import { observable } from '../ui/observable.ts'
import { inBrowser } from '../ui/persist.ts'
import { type SessionLife, tellOtherTabs } from './other-tabs.ts'

/** How long the session lasts, as the service told last; undefined while none is known of. */
export const sessionLife = observable<SessionLife | undefined>(undefined)

const endSetting = 'session-end'

/** Whether this browser was told of a session that is not over yet. */
export function isRemembered(): boolean {
  return Number(inBrowser.read(endSetting)) > Date.now()
}

export function forgetEnd(): void {
  inBrowser.write(endSetting, '')
}

/** What an answer tells of the session. */
export function recordLife(answer: Response): void {
  const idle = Date.parse(answer.headers.get('session-idle-expires') ?? '')
  const end = Date.parse(answer.headers.get('session-expires') ?? '')
  const serverNow = Date.parse(answer.headers.get('date') ?? '')
  if (Number.isNaN(idle) || Number.isNaN(end)) return
  const now = Date.now()
  const ahead = Number.isNaN(serverNow) ? 0 : now - serverNow
  // The Date header has whole seconds: a smaller difference is no difference of clocks.
  const correction = Math.abs(ahead) < 2_000 ? 0 : ahead
  const told = { idleEndsAt: idle + correction, endsAt: end + correction, toldAt: now }
  // An answer that did not count as use tells nothing new, and makes no notice of the end shorter.
  if (Math.abs(told.idleEndsAt - (sessionLife.get()?.idleEndsAt ?? 0)) < 2_000) return
  sessionLife.set(told)
  inBrowser.write(endSetting, String(Math.min(told.idleEndsAt, told.endsAt)))
  tellOtherTabs({ kind: 'life', life: told })
}
