import { isPassing, problemOf } from '../../api/problem.ts'
import { currentPerson, onForget, refreshSession } from '../../auth/session.ts'
import { leftOver } from '../../auth/unsent.ts'
import { announce } from '../../ui/announce.ts'
import type { UserId } from '../../ui/draft.ts'
import { observable } from '../../ui/observable.ts'
import { inTab, parsed, personal } from '../../ui/persist.ts'
import { sendOrder } from '../create/queries.ts'
import { type Answer, failureOf, Outbox, type Snapshot, type Step, type Try, unsentUnder } from '../outbox.ts'
import { ordersChanged } from '../queries.ts'
import { failuresOf } from './failures.ts'
import { keyOf, nameOf } from './judging.ts'
import type { Decimal } from './notation.ts'
import type { Pointed } from './reading.ts'
import type { Result, Results, Row } from './rows.ts'
import { endWords, partInWords, whyRefused } from './words.ts'

export interface Sheet {
  text: string
  /** How the person reads totals that are one of two numbers. */
  decimal?: Decimal
  columns?: Pointed
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

export const sheet = observable<Sheet>({ text: '' })
export const results = observable<Results>({})

type End = Answer<{ isKnown: boolean }>

/** Rows are sent one at a time. A failure that is not about its row stops the others. */
const outbox = new Outbox<Row, End>({
  noun: 'order',
  isPatient: false,
  atATime: 1,
  send: sendRow,
  stopsAt: (end) => isAboutAll(failureOf(end)),
})

/** How long the service remembers a key (section 3 of the contract). */
const keptMilliseconds = 24 * 60 * 60 * 1000

/** The tab keeps the sheet and, apart from it because they change with each row, the results. */
const [sheetName, resultsName] = ['sheet', 'sheet-results']
let owner: UserId | undefined

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
  const { sent } = sheet.get()
  if (sent !== undefined && !isDone())
    leftOver.set(partInWords(Object.values(results.get()), sent.rows.length))
  outbox.clear()
  owner = undefined
  sheet.set({ text: '' })
  results.set({})
})

export function changeSheet(text: string): void {
  keep({ text })
  keepResults({})
}

/** Says how the totals of the sheet are read, or in which columns its values are. */
export function readWith(how: Pick<Sheet, 'decimal' | 'columns'>): void {
  keep({ ...sheet.get(), ...how })
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

/** Sends the rows that have no result. Never throws. */
export async function goOn(all: readonly Row[]): Promise<void> {
  const { sent } = sheet.get()
  if (sent === undefined || isSending()) return
  const person = currentPerson()
  const isLeft = ({ number }: Row) => sent.rows.includes(number) && !(number in results.get())
  const steps = all.map((row, at) => ({ subject: row, sent: unsentUnder(keyOf(sent.name, at)) }))
  outbox.load(steps.filter(({ subject }) => isLeft(subject)))
  outbox.send()
  await outbox.rest()
  if (person !== currentPerson()) return
  void ordersChanged()
  if (problemOf(failureIn(outbox.snapshot.get()), 'permission-denied')) {
    void refreshSession().catch(() => undefined)
  }
  if (!isDone()) return
  const failed = failuresOf(all, results.get()).length
  announce(endWords(Object.values(results.get()), failed))
}

/** Begins nothing more. The answer to what was sent is awaited. */
export const stop = () => outbox.stop()

/** `failure` is what stopped the sending, or the reason for another try. */
export function useCourse() {
  const snapshot = outbox.snapshot.use()
  return {
    isSending: isSending(),
    isStopping: snapshot.phase === 'stopping',
    failure: failureIn(snapshot),
  }
}

function isSending(): boolean {
  const { phase } = outbox.snapshot.get()
  return phase === 'running' || phase === 'stopping'
}

const failureIn = ({ steps }: Snapshot<Row, End>): unknown =>
  steps.map(({ progress }) => failureOf(progress)).find(isAboutAll)

async function sendRow({ subject: row, sent }: Step<Row, End>, tryIt: Try): Promise<End> {
  const { values } = row
  if (values === undefined) return { kind: 'waiting' }
  const person = currentPerson()
  const answer = await tryIt(() => sendOrder({ ...values, idempotencyKey: sent.idempotencyKey }), sent)
  const result = resultOf(answer)
  if (result !== undefined && person === currentPerson()) {
    keepResults({ ...results.get(), [row.number]: result })
  }
  return answer
}

/** Undefined if it is not known what became of the row. */
function resultOf(answer: End): Result | undefined {
  if (answer.kind === 'done') return { kind: answer.value.isKnown ? 'known' : 'created' }
  const failure = failureOf(answer)
  return failure === undefined || isAboutAll(failure)
    ? undefined
    : { kind: 'failed', why: whyRefused(failure) }
}

function isAboutAll(failure: unknown): boolean {
  const { status = 0 } = problemOf(failure) ?? {}
  return failure !== undefined && (isPassing(failure) || ![400, 409, 422].includes(status))
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
