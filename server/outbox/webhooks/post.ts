import type { IncomingMessage } from 'node:http'
import { exchange } from '../../exchange.ts'
import type { Destinations } from './address.ts'

/** For all of it: name, connection, request and answer. */
const defaultTimeLimitMilliseconds = 10_000
const answerLimitBytes = 64 * 1024

export interface PostOptions {
  destinations: Destinations
  signal: AbortSignal
  timeLimitMilliseconds?: number
}

export interface PostAnswer {
  status: number
  /** The `Retry-After` header, if it has whole seconds. */
  retryAfterSeconds: number | undefined
  /** At most 64 KB of it. */
  body: string
}

/**
 * Sends a body and reads the answer. It connects only to addresses that were checked, and follows no
 * redirect. Throws an Error that says why there is no answer.
 */
export async function post(
  url: URL,
  { headers, body }: { headers: Record<string, string>; body: string },
  { destinations, signal, timeLimitMilliseconds = defaultTimeLimitMilliseconds }: PostOptions,
): Promise<PostAnswer> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(timeLimitMilliseconds)])
  try {
    limit.throwIfAborted()
    const addresses = await unlessAborted(destinations.addressesOf(url), limit)
    // The addresses that were checked: a second look-up could give others.
    const resolve = async () => addresses
    return await answerOf(await exchange(url, { headers, body, resolve, signal: limit }))
  } catch (error) {
    throw limit.aborted && !signal.aborted ? new Error('it did not answer in time', { cause: error }) : error
  }
}

async function answerOf(response: IncomingMessage): Promise<PostAnswer> {
  const { statusCode: status = 0, headers } = response
  const seconds = headers['retry-after']
  const retryAfterSeconds = /^\d{1,9}$/.test(seconds ?? '') ? Number(seconds) : undefined
  const body = await readBounded(response)
  response.destroy()
  return { status, retryAfterSeconds, body }
}

/** At most 64 KB, or what came before it broke off. */
async function readBounded(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  try {
    for await (const chunk of response) {
      chunks.push(chunk)
      length += chunk.length
      if (length >= answerLimitBytes) break
    }
  } catch {
    // The part received so far is enough.
  }
  return Buffer.concat(chunks).subarray(0, answerLimitBytes).toString()
}

function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    work.then(resolve, reject)
  })
}
