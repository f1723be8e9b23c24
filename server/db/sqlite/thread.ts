import { Worker } from 'node:worker_threads'
import { DatabaseUnavailable, QueryTooSlow, type RefusalCodec, TooManyWaiting } from '../errors.ts'

export interface ThreadRequest {
  id: number
  operation: string
  input: unknown
  /** Of a read: what it may take. */
  limitMilliseconds?: number | undefined
}

export type ThreadResult =
  | { id: number; outcome: 'done'; value: unknown }
  | { id: number; outcome: 'refused'; refusal: unknown }
  | { id: number; outcome: 'unavailable'; message: string }
  | { id: number; outcome: 'tooSlow'; message: string }
  | { id: number; outcome: 'failed'; message: string; stack: string | undefined }

export type ToThread = ThreadRequest | 'close'
export type FromThread = { ready: true } | { results: ThreadResult[] }

const restartDelayMilliseconds = 200
/**
 * Requests live a moment and answers are small: far above what a thread needs, and low enough that V8 collects instead
 * of growing. A thread that meets its limit ends, and is started again.
 */
const heapLimits = { maxYoungGenerationSizeMb: 6, maxOldGenerationSizeMb: 256 }

interface Waiting {
  resolve(value: unknown): void
  reject(error: Error): void
}

export interface ThreadOptions {
  /** In errors: `the writer`. */
  name: string
  /** Module that runs in the thread. */
  entry: URL
  file: string
  refusals: RefusalCodec
  /** Requests that may wait for the thread; one more is refused at once instead of piling up. */
  waitingLimit: number
  /** Called when results have come, before anybody learns of them. */
  beforeResults?: () => void
}

/**
 * The main thread's end of a thread with a connection: begins it when it is first needed, and again when it dies, after
 * failing what it had not answered.
 */
export class DatabaseThread {
  readonly #options: ThreadOptions
  readonly #waiting = new Map<number, Waiting>()
  #begun: { worker: Worker; ready: Promise<void> } | undefined
  #nextId = 1
  #wasReady = false
  /** It has died, and is not begun again yet. */
  #isDown = false
  #closing = false
  #end: Promise<void> | undefined

  constructor(options: ThreadOptions) {
    this.#options = options
  }

  /** Begins the thread unless it has begun, and resolves once it is ready. */
  start(): Promise<void> {
    if (this.#closing) return Promise.reject(new DatabaseUnavailable('the database has been closed'))
    this.#begun ??= this.#begin()
    return this.#begun.ready
  }

  /** Requests that it has not answered. */
  get underWay(): number {
    return this.#waiting.size
  }

  get hasBegun(): boolean {
    return this.#begun !== undefined
  }

  /** Begins the thread if nobody has yet, and asks it. One that has died takes no request until it is begun again. */
  async run(operation: string, input: unknown, limitMilliseconds?: number): Promise<unknown> {
    const { name, waitingLimit } = this.#options
    this.assertNotDown()
    if (this.#waiting.size >= waitingLimit) throw new TooManyWaiting(`too many operations wait for ${name}`)
    this.#begun ??= this.#begin()
    const { worker } = this.#begun
    return new Promise((resolve, reject) => {
      const id = this.#nextId++
      this.#waiting.set(id, { resolve, reject })
      try {
        worker.postMessage({ id, operation, input, limitMilliseconds } satisfies ToThread)
      } catch (error) {
        this.#waiting.delete(id)
        reject(error as Error)
      }
    })
  }

  assertNotDown(): void {
    if (this.#isDown || this.#closing) {
      throw new DatabaseUnavailable(`${this.#options.name} is not running`)
    }
  }

  /** Takes no more requests, and ends once those under way are answered, and not before `others`. */
  close(others?: Promise<void>): Promise<void> {
    this.#end ??= this.#endThread(others)
    return this.#end
  }

  async #endThread(others: Promise<void> | undefined): Promise<void> {
    this.#closing = true
    await this.#begun?.ready.catch(() => undefined)
    await others
    const worker = this.#begun?.worker
    if (worker === undefined) return
    // However it ends: `once` of node:events rejects when an error comes first.
    const exit = new Promise((resolve) => worker.once('exit', resolve))
    worker.postMessage('close' satisfies ToThread)
    await exit
  }

  /** Requests may be posted at once: they wait for the thread. */
  #begin(): { worker: Worker; ready: Promise<void> } {
    const { entry, file, name } = this.#options
    this.#isDown = false
    const worker = new Worker(entry, { workerData: { file }, resourceLimits: heapLimits })
    const ready = new Promise<void>((resolve, reject) => {
      let failure: Error | undefined
      worker.on('message', (message: FromThread) => {
        if ('ready' in message) {
          this.#wasReady = true
          resolve()
        } else {
          this.#options.beforeResults?.()
          for (const result of message.results) this.#settle(result)
        }
      })
      worker.on('error', (error: Error) => {
        failure = error
      })
      worker.on('exit', () => {
        reject(failure ?? new DatabaseUnavailable(`${name} ended before it was ready`))
        this.#ended(failure)
      })
    })
    // Each request learns of it too.
    ready.catch(() => undefined)
    return { worker, ready }
  }

  #settle(result: ThreadResult): void {
    const waiting = this.#waiting.get(result.id)
    if (waiting === undefined) return
    this.#waiting.delete(result.id)
    if (result.outcome === 'done') waiting.resolve(result.value)
    else if (result.outcome === 'refused') waiting.reject(this.#options.refusals.fromPlain(result.refusal))
    else if (result.outcome === 'unavailable') waiting.reject(new DatabaseUnavailable(result.message))
    else if (result.outcome === 'tooSlow') waiting.reject(new QueryTooSlow(result.message))
    else waiting.reject(Object.assign(new Error(result.message), { stack: result.stack }))
  }

  #ended(cause: Error | undefined): void {
    this.#begun = undefined
    this.#isDown = this.#wasReady
    for (const waiting of this.#waiting.values()) {
      waiting.reject(new DatabaseUnavailable(`${this.#options.name} ended before it answered`, { cause }))
    }
    this.#waiting.clear()
    if (this.#wasReady && !this.#closing) this.#restartLater()
  }

  #restartLater(): void {
    setTimeout(() => {
      // A start that fails has ended its worker, which schedules the next one.
      this.start().catch(() => undefined)
    }, restartDelayMilliseconds).unref()
  }
}

/** The plain form of what an operation threw. */
export function toThreadResult(id: number, error: unknown, refusals: RefusalCodec): ThreadResult {
  const refusal = refusals.toPlain(error)
  if (refusal !== undefined) return { id, outcome: 'refused', refusal }
  const { message, stack } = error instanceof Error ? error : new Error(String(error))
  if (error instanceof DatabaseUnavailable) return { id, outcome: 'unavailable', message }
  if (error instanceof QueryTooSlow) return { id, outcome: 'tooSlow', message }
  return { id, outcome: 'failed', message, stack }
}
