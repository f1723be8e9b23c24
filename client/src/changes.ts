import { delay } from './calls.ts'
import { linesOf } from './lines.ts'
import { isPassing, ProblemError, problemOf, retryDelayMilliseconds } from './problem.ts'

/** A change of an order, as the live list reports it. */
export interface Change {
  id: string
  kind: string
  version: number
  status: number
}

/** All changes up to a place in the log. */
export interface Batch {
  /** `<era>.<sequence>`; each restore of the database begins an era. */
  place: string
  changes: Change[]
  /**
   * More was missed than the service sends again, or the place was of another era. Load again whatever you
   * show.
   */
  isReset: boolean
}

export interface FollowOptions {
  /** The place of a list or of the last batch; without it the stream begins now. */
  after?: string | undefined
  signal?: AbortSignal
}

const triesForRoom = 4
/** A comment comes every 15 s. A connection that misses two of them is lost. */
const silenceMilliseconds = 35_000

/**
 * Reads the live list and resumes it after a lost connection, until the signal aborts. Throws `ProblemError`
 * if the service refuses the caller. If the account has four streams already (`too-many-streams`), a stream
 * that had begun tries a few times first: the service may not have noticed that its connection was lost.
 */
export async function* follow(
  begin: (place: string | undefined, signal: AbortSignal) => Promise<Response>,
  { after, signal = new AbortController().signal }: FollowOptions,
): AsyncGenerator<Batch, void> {
  let place = after
  let hasBegun = false
  for (let tries = 0; !signal.aborted; tries += 1) {
    let reason: unknown
    try {
      for await (const batch of readOnce(begin, place, signal)) {
        tries = 0
        hasBegun = true
        place = batch.place
        yield batch
      }
    } catch (failure) {
      const mayHaveRoom =
        hasBegun && tries < triesForRoom && problemOf(failure, 'too-many-streams') !== undefined
      if (failure instanceof ProblemError && !isPassing(failure) && !mayHaveRoom) throw failure
      reason = failure
    }
    await delay(retryDelayMilliseconds(tries, reason), signal).catch(() => undefined)
  }
}

/** Reads until the connection ends. */
async function* readOnce(
  begin: (place: string | undefined, signal: AbortSignal) => Promise<Response>,
  place: string | undefined,
  signal: AbortSignal,
): AsyncGenerator<Batch, void> {
  const silence = new AbortController()
  const fallSilent = () => silence.abort()
  let timer = setTimeout(fallSilent, silenceMilliseconds)
  const heard = () => {
    clearTimeout(timer)
    timer = setTimeout(fallSilent, silenceMilliseconds)
  }
  let begun: string[] = []
  try {
    for await (const lines of linesOf(await begin(place, AbortSignal.any([signal, silence.signal])), heard)) {
      begun.push(...lines)
      const end = begun.lastIndexOf('') + 1
      const batch = batchOf(begun.slice(0, end))
      begun = begun.slice(end)
      if (batch !== undefined) yield batch
    }
  } finally {
    clearTimeout(timer)
  }
}

/** Reads whole server-sent events (WHATWG HTML §9.2), as the service writes them. */
function batchOf(lines: readonly string[]): Batch | undefined {
  const valuesOf = (name: string) =>
    lines.filter((line) => line.startsWith(`${name}: `)).map((line) => line.slice(name.length + 2))
  const place = valuesOf('id').at(-1)
  if (place === undefined) return undefined
  const changes = valuesOf('data').map((data): Partial<Change> => JSON.parse(data))
  return { place, changes: changes.filter(isChange), isReset: valuesOf('event').includes('reset') }
}

function isChange(data: Partial<Change>): data is Change {
  return data.id !== undefined
}
