import { problemOf } from '../../api/problem.ts'
import { onForget, refreshSession } from '../../auth/session.ts'
import { announce } from '../../ui/announce.ts'
import type { UserId } from '../../ui/draft.ts'
import { observable } from '../../ui/observable.ts'
import { pause } from '../../ui/pause.ts'
import { inTab, parsed, personal } from '../../ui/persist.ts'
import { holdPage } from '../../ui/reload.ts'
import { sendOrder } from '../create/queries.ts'
import { ordersChanged } from '../queries.ts'
import { untilAnswered } from '../retry.ts'
import { failuresOf } from './failures.ts'
import { keyOf, nameOf } from './judging.ts'
import type { Result, Results, Row } from './rows.ts'
import { endWords, whyRefused } from './words.ts'

export interface Sheet {
  text: string
  /** Once sending has begun. */
  sent?: {
    /** See `nameOf`. */
    name: string
    /** When it began. */
    at: number
    /** The numbers of the rows that are sent, in their order. */
    rows: readonly number[]
  }
}

export type Course =
  /** `failure` is what stopped it. */
  | { kind: 'still'; failure?: unknown }
  /** `failure` is the reason for another try. */
  | { kind: 'sending'; isStopping?: boolean; failure?: unknown }

const noCourse: Course = { kind: 'still' }
export const sheet = observable<Sheet>({ text: '' })
export const results = observable<Results>({})
export const course = observable<Course>(noCourse)

/** How long the service remembers a key (section 3 of the contract). */
const keptMilliseconds = 24 * 60 * 60 * 1000

/** The tab keeps the sheet and, apart from it because they change with each row, the results. */
const [sheetName, resultsName] = ['sheet', 'sheet-results']
let owner: UserId | undefined
let running: AbortController | undefined

/** Shows the sheet that this tab has kept for this person, and drops those of anyone else. */
export function openSheet(userId: UserId): void {
  if (owner === userId) return
  owner = userId
  const own = [sheetName, resultsName].map((name) => personal(name, userId))
  for (const name of inTab.names(sheetName)) if (!own.includes(name)) inTab.drop(name)
  const [kept, keptResults] = own.map((name) => parsed(inTab.read(name)))
  sheet.set((kept as Sheet | null) ?? { text: '' })
  results.set((keptResults as Results | null) ?? {})
}

// The tab keeps the sheet for the same person, unless they sign out (main.tsx).
onForget(() => {
  running?.abort()
  running = undefined
  owner = undefined
  sheet.set({ text: '' })
  results.set({})
  show(noCourse)
})

export function changeSheet(text: string): void {
  keep({ text })
  keepResults({})
}

/** Sends the chosen ones of all rows of the sheet. */
export async function begin(all: readonly Row[], chosen: readonly Row[], userId: UserId): Promise<void> {
  const before = sheet.get()
  const name = await nameOf(all, userId)
  // A second press came first, or the text has changed.
  if (before.sent || sheet.get() !== before) return
  keep({ ...before, sent: { name, at: Date.now(), rows: chosen.map(({ number }) => number) } })
  await goOn(all)
}

/** Sends the rows that have no result, one at a time. Never throws. */
export async function goOn(all: readonly Row[]): Promise<void> {
  const { sent } = sheet.get()
  if (sent === undefined || running !== undefined) return
  const run = new AbortController()
  running = run
  const chosen = new Set(sent.rows)
  let end: Course = noCourse
  for (const [at, row] of all.entries()) {
    if (!chosen.has(row.number) || row.number in results.get()) continue
    if (run.signal.aborted) break
    const outcome = await sendRow(row, keyOf(sent.name, at), run.signal)
    // The person is gone.
    if (running !== run) return
    if ('kind' in outcome) keepResults({ ...results.get(), [row.number]: outcome })
    else {
      end = { kind: 'still', failure: outcome.failure }
      break
    }
  }
  running = undefined
  show(end)
  void ordersChanged()
  if (problemOf(end.failure, 'permission-denied')) void refreshSession().catch(() => undefined)
  if (!isDone()) return
  const failed = failuresOf(all, results.get()).length
  announce(`${endWords(Object.values(results.get()), failed, all.length)}.`)
}

/** Begins nothing more. The answer to what was sent is awaited. */
export function stop(): void {
  running?.abort()
  const now = course.get()
  if (now.kind === 'sending') show({ ...now, isStopping: true })
}

/** A failure that is not about the row ends the sending; `failure` is undefined if the person stopped it. */
async function sendRow(
  row: Row,
  idempotencyKey: string,
  signal: AbortSignal,
): Promise<Result | { failure?: unknown }> {
  if (row.values === undefined) return {}
  const order = { ...row.values, idempotencyKey }
  const onRetry = (failure: unknown) => show({ kind: 'sending', failure })
  if (course.get().kind === 'still' || course.get().failure !== undefined) show({ kind: 'sending' })
  const answer = await untilAnswered(() => sendOrder(order), { signal, pause, onRetry })
  if (answer.kind === 'done') return { kind: answer.value.isKnown ? 'known' : 'created' }
  if (answer.kind === 'stopped') return {}
  const { failure } = answer
  return isAboutRow(failure) ? { kind: 'failed', why: whyRefused(failure) } : { failure }
}

function isAboutRow(failure: unknown): boolean {
  return [400, 409, 422].includes(problemOf(failure)?.status ?? 0)
}

export function isDone(): boolean {
  const { sent } = sheet.get()
  return sent?.rows.every((number) => number in results.get()) ?? false
}

/** The row whose answer was lost too long ago: sent again, it might be created twice. */
export function rowInDoubt(now: number): number | undefined {
  const { sent } = sheet.get()
  if (sent === undefined || now - sent.at < keptMilliseconds) return undefined
  return sent.rows.find((number) => !(number in results.get()))
}

function show(next: Course): void {
  course.set(next)
  holdPage(sheetName, next.kind === 'sending')
}

function keep(next: Sheet): void {
  sheet.set(next)
  write(sheetName, next)
}

function keepResults(next: Results): void {
  results.set(next)
  write(resultsName, next)
}

function write(name: string, value: object): void {
  if (owner !== undefined) inTab.write(personal(name, owner), JSON.stringify(value))
}
