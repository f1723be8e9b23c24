import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '../clock.ts'
import { keepAnswering } from './connections.ts'
import { Problem, retryAfter } from './problems.ts'
import { callerOf, type ExportType } from './route.ts'

const endings: Record<ExportType, string> = { 'application/jsonl': 'jsonl', 'text/csv': 'csv' }

export interface Export {
  type: ExportType
  /** Without its ending. */
  fileName: string
  /** Read as the caller reads: one portion ahead at most. */
  portions: AsyncIterable<string>
}

const betweenChecksMilliseconds = 3_000

/**
 * Lists that are sent whole, as a stream: one at a time for a caller, each ended when its caller would not be let in
 * any more. What is cut off has no end of its transfer coding, so no caller takes it for whole.
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

  /** Throws `export-running`, and what the first portion fails with: it is read before anything is sent. */
  async send(
    request: FastifyRequest,
    reply: FastifyReply,
    { type, fileName, portions }: Export,
  ): Promise<FastifyReply> {
    const caller = callerOf(request).id
    if (this.#running.has(caller)) throw new Problem('export-running', { headers: retryAfter(5_000) })
    this.#running.add(caller)
    const rest = portions[Symbol.asyncIterator]()
    // Fastify reads what answers a HEAD to its end.
    const isWanted = request.method !== 'HEAD'
    const first = await (isWanted ? rest.next() : rest.return?.())?.catch((error: unknown) => {
      this.#running.delete(caller)
      throw error
    })
    const stream = Readable.from(this.#whileAdmitted(request, first, rest), { objectMode: false })
    stream.once('close', () => this.#running.delete(caller))
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
      for (let portion = first; portion?.done === false; portion = await rest.next()) {
        if (this.#monotonic() - checkedAt >= betweenChecksMilliseconds) {
          if (!(await this.#isStillAdmitted(request))) throw new Error('the caller may not read on')
          checkedAt = this.#monotonic()
        }
        // Whoever asks for more has read what came before.
        keepAnswering(request.raw.socket)
        yield portion.value
      }
    } finally {
      await rest.return?.()
    }
  }
}

/** The form that `Accept` asks for before JSON, if any; `*` alone means JSON. */
export function acceptedExport<T extends ExportType>(
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
