import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { isBefore, nowhere, type Place, spellPlace } from '../../../proof/place.ts'
import type { Clock } from '../../clock.ts'
import { keepAnswering } from '../../http/connections.ts'
import { callerOf } from '../../http/route.ts'
import { Problem, retryAfter } from '../../problems/problems.ts'
import type { LiveOrders } from './live.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The caller has a place in the log that is beyond its end. */
    isBeyondLog: boolean
  }
}

const streamsOfCaller = 4
/** Only the end of another stream makes room. */
const retryMilliseconds = 30_000
/**
 * Keeps proxies from ending a silent connection. A stream also checks then whether its caller is still
 * admitted.
 */
const commentMilliseconds = 15_000
/** Callers can invent places, so this is a hint and no proof. */
const beyondLog =
  'a reader has a place beyond the end of the log: the reader is wrong, or the database went back without `log restored`'

/**
 * The streams of one instance. Each reads the log from its place, only as fast as its caller reads, so that a
 * slow caller holds no events in memory. A stream ends when its caller would not be admitted any more.
 */
export class LiveStreams {
  readonly #live: LiveOrders
  readonly #isStillAdmitted: (request: FastifyRequest) => Promise<boolean>
  readonly #monotonic: Clock
  readonly #open = new Set<AbortController>()
  readonly #countOf = new Map<number, number>()

  constructor(
    live: LiveOrders,
    isStillAdmitted: (request: FastifyRequest) => Promise<boolean>,
    monotonic: Clock = () => performance.now(),
  ) {
    this.#live = live
    this.#isStillAdmitted = isStillAdmitted
    this.#monotonic = monotonic
  }

  /**
   * Sends what happens after the place in the log, or from now on if it is null. Throws `too-many-streams`.
   */
  async send(request: FastifyRequest, reply: FastifyReply, place: Place | null): Promise<FastifyReply> {
    const end = await this.#live.end()
    request.isBeyondLog = place !== null && isBefore(end, place)
    if (request.isBeyondLog) request.log.warn({ event: 'beyond-log', place, end }, beyondLog)
    const begin = request.isBeyondLog ? nowhere : (place ?? end)
    reply
      .header('content-type', 'text/event-stream; charset=utf-8')
      // nginx holds answers back by default.
      .header('x-accel-buffering', 'no')
      // An idle connection, left over when the streams of an instance end, would delay its shutdown.
      .header('connection', 'close')
    // Fastify would read the stream to its end to answer a HEAD.
    if (request.method === 'HEAD') return reply.send(Readable.from([]))
    const texts = this.#texts(request, begin, this.#openFor(callerOf(request).id, reply))
    return reply.send(Readable.from(texts, { objectMode: false }))
  }

  /** Ends all streams; their callers connect to another instance. */
  close(): void {
    for (const stream of this.#open) stream.abort()
  }

  /** Each batch and each comment carries the place that its caller has reached. */
  async *#texts(request: FastifyRequest, begin: Place, signal: AbortSignal): AsyncGenerator<string | Buffer> {
    let place = begin
    let commentedAt = this.#monotonic()
    yield `id: ${spellPlace(place)}\n\n`
    while (!signal.aborted) {
      const left = commentedAt + commentMilliseconds - this.#monotonic()
      const { bytes, reached } = await this.#live.after(place, Math.max(0, left), signal)
      place = reached
      if (bytes.length > 0) yield bytes
      if (this.#monotonic() < commentedAt + commentMilliseconds) continue
      if (!(await this.#mayGoOn(request))) return
      yield `:\nid: ${spellPlace(place)}\n\n`
      commentedAt = this.#monotonic()
    }
  }

  /**
   * Without the database, this cannot be checked and there are no events. The stream stays open.
   */
  async #mayGoOn(request: FastifyRequest): Promise<boolean> {
    // A caller who takes more has read everything before.
    keepAnswering(request.raw.socket)
    return this.#isStillAdmitted(request).catch(() => true)
  }

  /** Counts the stream; the signal ends it. */
  #openFor(caller: number, { raw }: FastifyReply): AbortSignal {
    const count = this.#countOf.get(caller) ?? 0
    if (count >= streamsOfCaller) {
      const detail =
        'The account follows the list in four other places. Close one of these windows or programs.'
      throw new Problem('too-many-streams', { detail, headers: retryAfter(retryMilliseconds) })
    }
    this.#countOf.set(caller, count + 1)
    const stream = new AbortController()
    this.#open.add(stream)
    const end = () => {
      stream.abort()
      if (!this.#open.delete(stream)) return
      const left = (this.#countOf.get(caller) ?? 0) - 1
      if (left > 0) this.#countOf.set(caller, left)
      else this.#countOf.delete(caller)
    }
    raw.once('close', end)
    // If the connection has closed already, no close event comes.
    if (raw.destroyed) end()
    return stream.signal
  }
}
