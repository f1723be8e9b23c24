import { lookup as lookUp } from 'node:dns/promises'
import type { IncomingMessage } from 'node:http'
import { isIP, type LookupFunction } from 'node:net'
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

/** By the machine's resolver, as Node would. */
export async function resolveHost(hostname: string): Promise<string[]> {
  return (await lookUp(hostname, { all: true })).map(({ address }) => address)
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
    const addresses = await unlessAborted(destinations.addressesOf(url), limit)
    return await exchange(url, { headers, body, lookup: lookupIn(addresses), signal: limit })
  } catch (error) {
    throw limit.aborted && !signal.aborted ? new Error('it did not answer in time', { cause: error }) : error
  }
}

/** Gives what was checked, so that a second look at the name cannot give something else. */
function lookupIn(addresses: readonly string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: isIP(address) }))
  return (_hostname, options, callback) => {
    const [first] = all
    if (options.all || first === undefined) callback(null, all)
    else callback(null, first.address, first.family)
  }
}

interface Exchange {
  headers: Record<string, string>
  body: string
  lookup: LookupFunction
  signal: AbortSignal
}

async function exchange(url: URL, { headers, body, lookup, signal }: Exchange): Promise<PostAnswer> {
  // Not at the start: as modules they load fetch too.
  const { request } = await (url.protocol === 'http:' ? import('node:http') : import('node:https'))
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', headers, lookup, signal, agent: false }, (response) => {
      const { statusCode = 0, headers: answered } = response
      const seconds = answered['retry-after']
      const retryAfterSeconds = /^\d{1,9}$/.test(seconds ?? '') ? Number(seconds) : undefined
      // The status has arrived, so what happens to the rest changes nothing.
      sent.off('error', reject).on('error', () => undefined)
      readBounded(response).then((text) => {
        sent.destroy()
        resolve({ status: statusCode, retryAfterSeconds, body: text })
      })
    })
    sent.once('error', reject)
    sent.end(body)
  })
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
