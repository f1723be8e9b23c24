import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import { DatabaseUnavailable, QueryTooSlow, type RefusalCodec, TooManyWaiting } from '../errors.ts'

export interface ThreadRequest {
  id: number
  operation: string
  input: unknown
  /** For a read: how long it may run. */
  limitMilliseconds?: number | undefined
}

export type ThreadResult =
  | { id: number; outcome: 'done'; value: unknown }
  | { id: number; outcome: 'refused'; refusal: unknown }
  | {
      id: number
      outcome: 'unavailable'
      message: string
      refusesWrites: DatabaseUnavailable['refusesWrites']
    }
  | { id: number; outcome: 'tooSlow'; message: string }
  | { id: number; outcome: 'failed'; message: string; stack: string | undefined }

export type ToThread = ThreadRequest | 'close'
export type FromThread = { ready: true } | { results: ThreadResult[] }

/**
 * Requests are short-lived and answers small. This is far more than a thread needs, and low enough to make V8
 * collect instead of grow (185 MB for the process under lists instead of 194). A thread that reaches its
 * limit ends.
 */
const heapLimits = { maxYoungGenerationSizeMb: 6, maxOldGenerationSizeMb: 256 }

interface Waiting {
  resolve(value: unknown): void
  reject(error: Error): void
}

/** A worker, or the port to a loop that runs in this thread. */
interface Loop {
  postMessage(message: ToThread): void
  on(event: 'message', listener: (message: FromThread) => void): unknown
  on(event: 'error', listener: (error: Error) => void): unknown
  once(event: 'exit' | 'close', listener: () => void): unknown
}

interface BegunThread {
  worker: Loop
  ready: Promise<void>
}

export interface ThreadOptions {
  /** The name of the thread in errors, such as `the writer`. */
  name: string
  /** What the thread does: the entry module of a worker, or a loop that runs in this thread. */
  loop: URL | ((port: MessagePort) => void)
  file: string
  refusals: RefusalCodec
  /** Requests that may wait for the thread; one more is refused at once. */
  waitingLimit: number
  /** Called when results have arrived, before any caller sees them. */
  beforeResults?: () => void
}

/**
 * The main thread's handle on a thread, or a loop in this one, that has a connection. It starts on first
 * use. If it ends, the requests that it has not answered fail, and the next request starts it again.
 */
export class DatabaseThread {
  readonly #options: ThreadOptions
  readonly #waiting = new Map<number, Waiting>()
  #begun: BegunThread | undefined
  #nextId = 1
  #closing = false
  #end: Promise<void> | undefined

  constructor(options: ThreadOptions) {
    this.#options = options
  }

  /** Resolves once the thread is ready; rejects with `DatabaseUnavailable` if it cannot start. */
  async start(): Promise<void> {
    await this.#need().ready
  }

  /** Requests not answered yet. */
  get underWay(): number {
    return this.#waiting.size
  }

  get hasBegun(): boolean {
    return this.#begun !== undefined
  }

  async run(operation: string, input: unknown, limitMilliseconds?: number): Promise<unknown> {
    const { name, waitingLimit } = this.#options
    if (this.#waiting.size >= waitingLimit) throw new TooManyWaiting(`too many operations wait for ${name}`)
    const { worker } = this.#need()
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

  /** Refuses new requests. Ends the thread once running requests are answered and `others` has resolved. */
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
    // Resolves however the thread ends; `once` of node:events rejects if an error comes first.
    const exit = new Promise<void>((resolve) => endOf(worker, resolve))
    worker.postMessage('close' satisfies ToThread)
    await exit
  }

  #need(): BegunThread {
    if (this.#closing) throw new DatabaseUnavailable(`${this.#options.name} is closed`)
    this.#begun ??= this.#begin()
    return this.#begun
  }

  /** Requests may be posted at once: they wait for the thread. */
  #begin(): BegunThread {
    const { name } = this.#options
    const worker = this.#newWorker()
    const ready = new Promise<void>((resolve, reject) => {
      let cause: Error | undefined
      worker.on('message', (message: FromThread) => {
        if ('ready' in message) resolve()
        else {
          this.#options.beforeResults?.()
          for (const result of message.results) this.#settle(result)
        }
      })
      worker.on('error', (error: Error) => {
        cause = error
      })
      endOf(worker, () => {
        reject(new DatabaseUnavailable(`${name} ended before it was ready`, { cause }))
        this.#ended(cause)
      })
    })
    // A rejection is not an error if nobody is waiting.
    ready.catch(() => undefined)
    return { worker, ready }
  }

  /** Throws at once if the machine has no thread left. */
  #newWorker(): Loop {
    const { loop, file, name } = this.#options
    try {
      if (loop instanceof URL) return new Worker(loop, { workerData: { file }, resourceLimits: heapLimits })
      const { port1, port2 } = new MessageChannel()
      loop(port2)
      return port1
    } catch (cause) {
      throw new DatabaseUnavailable(`${name} cannot be begun`, { cause })
    }
  }

  #settle(result: ThreadResult): void {
    const waiting = this.#waiting.get(result.id)
    if (waiting === undefined) return
    this.#waiting.delete(result.id)
    if (result.outcome === 'done') waiting.resolve(result.value)
    else if (result.outcome === 'refused') waiting.reject(this.#options.refusals.fromPlain(result.refusal))
    else if (result.outcome === 'unavailable') waiting.reject(new DatabaseUnavailable(result.message, result))
    else if (result.outcome === 'tooSlow') waiting.reject(new QueryTooSlow(result.message))
    else waiting.reject(Object.assign(new Error(result.message), { stack: result.stack }))
  }

  #ended(cause: Error | undefined): void {
    this.#begun = undefined
    for (const waiting of this.#waiting.values()) {
      waiting.reject(new DatabaseUnavailable(`${this.#options.name} ended before it answered`, { cause }))
    }
    this.#waiting.clear()
  }
}

function endOf(worker: Loop, then: () => void): void {
  worker.once(worker instanceof Worker ? 'exit' : 'close', then)
}

/** The plain form of what an operation threw. */
export function toThreadResult(id: number, error: unknown, refusals: RefusalCodec): ThreadResult {
  const refusal = refusals.toPlain(error)
  if (refusal !== undefined) return { id, outcome: 'refused', refusal }
  const { message, stack } = error instanceof Error ? error : new Error(String(error))
  if (error instanceof DatabaseUnavailable) return unavailable(id, error)
  if (error instanceof QueryTooSlow) return { id, outcome: 'tooSlow', message }
  return { id, outcome: 'failed', message, stack }
}

export function unavailable(id: number, error: unknown): ThreadResult {
  const message = error instanceof Error ? error.message : String(error)
  const { refusesWrites } = error instanceof DatabaseUnavailable ? error : {}
  return { id, outcome: 'unavailable', message, refusesWrites }
}
