import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Requests } from './requests.ts'

export interface LoadOrder {
  port: number
  requests: Requests
  connections: number
  /** Between an answer and the next request of a connection; 0 for as fast as possible. */
  pauseMilliseconds: number
  /** Answers during this time are not measured. */
  warmUpMilliseconds: number
  milliseconds: number
  /** The status of a good answer; others are failures. */
  expected: number
  /** Distinguishes the keys of this order from those of any other. */
  run: string
}

/** Times in milliseconds. */
export interface LoadResult {
  /** Good answers a second, in the measured time. */
  rate: number
  requests: number
  p50: number
  p99: number
  max: number
  /** All answers, including the warm-up, because the server's processor time was spent on all of them. */
  all: number
  failures: Record<string, number>
}

/** A load generator in a separate thread. It takes one order at a time. */
export class Load {
  #worker: Worker | undefined

  async run(order: LoadOrder): Promise<LoadResult> {
    this.#worker ??= new Worker(new URL('./load-worker.ts', import.meta.url))
    const answer = once(this.#worker, 'message')
    this.#worker.postMessage(order)
    const [result] = await answer
    return result
  }

  async end(): Promise<void> {
    await this.#worker?.terminate()
  }
}
