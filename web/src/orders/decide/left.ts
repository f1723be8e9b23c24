import { onForget, type User } from '../../auth/session.ts'
import { observable } from '../../ui/observable.ts'
import { inBrowser, parsed } from '../../ui/persist.ts'
import { mark } from './course.ts'
import type { Entry } from './outbox.ts'

/** What the browser keeps of a decision while its page is there: enough to say later what became of it. */
export interface Left {
  userId: User['id']
  /** The id of the order. */
  id: string
  /** Whether a request was sent. Its answer is not known. */
  isSent: boolean
}

const prefix = 'decision.'
const lockOf = (key: string) => `countersign.decision.${key}`

/** The decisions of this page, by key. `release` is there once the page has the lock. */
const own = new Map<string, { left: Left; release?: () => void }>()
/** The decisions of this person whose pages are gone, by key. */
export const leftByOthers = observable<ReadonlyMap<string, Left>>(new Map())

onForget(() => leftByOthers.set(new Map()))

/**
 * Keeps exactly these decisions of this page. The page has the lock of each, so another page gets it only
 * when the decision is settled or this page is gone. Without Web Locks nothing is kept.
 */
export function keepInBrowser(entries: readonly Entry[]): void {
  const now = new Map(entries.map((entry) => [entry.decision.idempotencyKey, leftOf(entry)]))
  for (const [key, left] of now) {
    const known = own.get(key)
    own.set(key, { ...known, left })
    if (known === undefined) void navigator.locks?.request(lockOf(key), () => keepUntilReleased(key))
    else if (known.release && known.left.isSent !== left.isSent) write(key, left)
  }
  for (const [key, { release }] of own) {
    if (now.has(key)) continue
    own.delete(key)
    inBrowser.drop(prefix + key)
    release?.()
  }
}

/** Called when this page goes away. The next one reports its decisions. */
export function leaveInBrowser(): void {
  for (const { release } of own.values()) release?.()
  own.clear()
}

/**
 * Finds the decisions that pages of this person have left, now or later. Drops those of anyone else, and
 * returns how many of these were not sent.
 */
export function lookForLeft(userId: User['id']): number {
  let dropped = 0
  for (const name of inBrowser.names(prefix)) {
    const key = name.slice(prefix.length)
    const left = read(key)
    if (left?.userId === userId) watch(key)
    else inBrowser.drop(name)
    if (left && left.userId !== userId && !left.isSent) dropped += 1
  }
  leftByOthers.set(new Map([...leftByOthers.get()].filter(([key]) => read(key))))
  return dropped
}

/** Called when the person has seen what became of these. */
export function dismissLeft(keys: readonly string[]): void {
  for (const key of keys) inBrowser.drop(prefix + key)
  leftByOthers.set(new Map([...leftByOthers.get()].filter(([key]) => !keys.includes(key))))
}

function keepUntilReleased(key: string): Promise<void> | undefined {
  const known = own.get(key)
  if (known === undefined) return undefined
  write(key, known.left)
  return new Promise((release) => own.set(key, { ...known, release }))
}

/** The decisions of other pages of which this one waits for the lock. */
const watched = new Set<string>()

function watch(key: string): void {
  if (own.has(key) || watched.has(key)) return
  watched.add(key)
  void navigator.locks?.request(lockOf(key), () => {
    watched.delete(key)
    const left = read(key)
    // Without it, the decision was settled.
    if (left === undefined) return
    if (!left.isSent) mark(left.id, undefined)
    leftByOthers.set(new Map(leftByOthers.get()).set(key, left))
  })
}

const write = (key: string, left: Left) => inBrowser.write(prefix + key, JSON.stringify(left))

/** Undefined if there is none, or if another version of the app wrote it. */
function read(key: string): Left | undefined {
  const value = parsed(inBrowser.read(prefix + key))
  if (typeof value !== 'object' || value === null) return undefined
  const { userId, id, isSent } = value as Partial<Left>
  const isLeft = userId !== undefined && typeof id === 'string' && typeof isSent === 'boolean'
  return isLeft ? { userId, id, isSent } : undefined
}

const leftOf = ({ user, decision, state }: Entry): Left => ({
  userId: user.id,
  id: decision.id,
  isSent: state.kind !== 'held',
})
