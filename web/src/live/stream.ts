import { inBackground } from '../api/client.ts'
import { retryDelayMilliseconds } from '../api/problem.ts'
import { pause } from '../ui/pause.ts'

/** What happened to an order, as far as the live list says. */
export interface Change {
  id: string
  kind: string
  version: number
  status: number
}

/** All changes up to a place in the log. */
export interface Batch {
  place: string
  changes: Change[]
}

/** A comment comes every 15 s. A connection that misses two of them is lost. */
const silenceMilliseconds = 35_000

/**
 * Reads the live list and resumes it after a lost connection, until the signal aborts or the service refuses
 * this browser.
 */
export async function followOrders(
  start: string | undefined,
  onBatch: (batch: Batch) => void,
  signal: AbortSignal,
): Promise<void> {
  let place = start
  for (let tries = 0; !signal.aborted; tries += 1) {
    const heard = (batch: Batch) => {
      tries = 0
      place = batch.place
      onBatch(batch)
    }
    const status = await readOnce(place, heard, signal).catch(() => undefined)
    if (status === 401 || status === 403) return
    await pause(retryDelayMilliseconds(tries, undefined), signal)
  }
}

/** Reads to the end of the connection; returns the status of the answer. */
async function readOnce(
  place: string | undefined,
  heard: (batch: Batch) => void,
  signal: AbortSignal,
): Promise<number> {
  const silence = new AbortController()
  let timer = setTimeout(() => silence.abort(), silenceMilliseconds)
  try {
    const answer = await fetch('/v1/orders/events', {
      headers: { ...Object.fromEntries([inBackground]), ...(place && { 'last-event-id': place }) },
      cache: 'no-store',
      signal: AbortSignal.any([signal, silence.signal]),
    })
    if (!answer.ok || answer.body === null) return answer.status
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader()
    let text = ''
    for (;;) {
      const { value, done } = await reader.read()
      if (done) return answer.status
      clearTimeout(timer)
      timer = setTimeout(() => silence.abort(), silenceMilliseconds)
      text += value
      const end = text.lastIndexOf('\n\n') + 1
      const batch = batchOf(text.slice(0, end))
      text = text.slice(end)
      if (batch !== undefined) heard(batch)
    }
  } finally {
    clearTimeout(timer)
  }
}

/** Reads whole blocks of server-sent events (WHATWG HTML §9.2), as the service writes them. */
function batchOf(text: string): Batch | undefined {
  const lines = text.split('\n')
  const valuesOf = (name: string) =>
    lines.filter((line) => line.startsWith(`${name}: `)).map((line) => line.slice(name.length + 2))
  const place = valuesOf('id').at(-1)
  if (place === undefined) return undefined
  return { place, changes: valuesOf('data').map((data): Change => JSON.parse(data)) }
}
