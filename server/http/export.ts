import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '../clock.ts'
import { Problem, retryAfter } from '../problems/problems.ts'
import { keepAnswering } from './connections.ts'
import { callerOf, type ExportType } from './route.ts'

const endings: Record<ExportType, string> = { 'application/jsonl': 'jsonl', 'text/csv': 'csv' }

export interface Export {
  type: ExportType
  /** Without the extension. */
  fileName: string
  /** Read as the caller reads, at most one batch ahead. */
  batches: AsyncIterable<string>
}

const betweenChecksMilliseconds = 3_000

/**
 * Sends whole lists as streams. A caller has one at a time, and it ends when the caller would no longer be
 * let in. A stream that is cut off resets its connection, so no caller takes it for complete: over HTTP/1.0
 * there is no other sign.
 */
export class Exports {
  readonly #running = new Set<number>()
  readonly #isStillAdmitted: (request: FastifyRequest) => Promise<boolean>
  readonly #monotonic: Clock

  constructor(
    isStillAdmitted: (request: FastifyRequest) => Promise<boolean>,
    monotonic: Clock = () => performance.now(),
  ) {
    this.#isStillAdmitted = isStillAdmitted
    this.#monotonic = monotonic
  }

  /** Throws `export-running`, or the failure of the first batch, which is read before anything is sent. */
  async send(
    request: FastifyRequest,
    reply: FastifyReply,
    { type, fileName, batches }: Export,
  ): Promise<FastifyReply> {
    const caller = callerOf(request).id
    if (this.#running.has(caller)) throw new Problem('export-running', { headers: retryAfter(5_000) })
    this.#running.add(caller)
    const rest = batches[Symbol.asyncIterator]()
    // Fastify would read the stream to its end to answer a HEAD.
    const isWanted = request.method !== 'HEAD'
    const first = await (isWanted ? rest.next() : rest.return?.())?.catch((error: unknown) => {
      this.#running.delete(caller)
      throw error
    })
    const stream = Readable.from(this.#whileAdmitted(request, first, rest), { objectMode: false })
    stream.once('close', () => this.#running.delete(caller))
    const cut = () => request.raw.socket.resetAndDestroy()
    stream.once('error', cut)
    reply.raw.once('timeout', cut)
    return reply
      .header('content-type', `${type}; charset=utf-8`)
      .header('content-disposition', `attachment; filename="${fileName}.${endings[type]}"`)
      .send(stream)
  }

  async *#whileAdmitted(
    request: FastifyRequest,
    first: IteratorResult<string> | undefined,
    rest: AsyncIterator<string>,
  ): AsyncGenerator<string> {
    let checkedAt = this.#monotonic()
    try {
      for (let batch = first; batch?.done === false; batch = await rest.next()) {
        if (this.#monotonic() - checkedAt >= betweenChecksMilliseconds) {
          if (!(await this.#isStillAdmitted(request))) throw new Error('the caller may not read on')
          checkedAt = this.#monotonic()
        }
        // Asking for more shows that the caller has read the batch before.
        keepAnswering(request.raw.socket)
        yield batch.value
      }
    } finally {
      await rest.return?.()
    }
  }
}

/** The form that `Accept` prefers to JSON, if any. `*` alone means JSON. */
export function acceptedForm<T extends string>(
  { headers }: FastifyRequest,
  offered: readonly T[],
): T | undefined {
  const weights = (headers.accept ?? '').split(',').map((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    const weight = parameters.find((parameter) => parameter.startsWith('q='))
    return { type, weight: weight === undefined ? 1 : Number(weight.slice(2)) }
  })
  const weightOf = (wanted: string) => weights.find(({ type }) => type === wanted)?.weight ?? 0
  const [best] = offered.toSorted((a, b) => weightOf(b) - weightOf(a))
  const isAsked = best !== undefined && weightOf(best) > 0 && weightOf(best) >= weightOf('application/json')
  return isAsked ? best : undefined
}
