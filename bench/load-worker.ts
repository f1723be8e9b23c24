import { parentPort } from 'node:worker_threads'
import { LoadConnection } from './connection.ts'
import type { LoadOrder, LoadResult } from './load.ts'
import { makeSender } from './requests.ts'

/** The load's thread: carries out one order after another (see load.ts). */
parentPort?.on('message', async (order: LoadOrder) => {
  parentPort?.postMessage(await carryOut(order))
})

function carryOut(order: LoadOrder): Promise<LoadResult> {
  const { port, requests, connections, pauseMilliseconds, warmUpMilliseconds, milliseconds, expected } = order
  const times: number[] = []
  const failures: Record<string, number> = {}
  let all = 0
  let isMeasuring = false
  const onAnswer = (status: number, took: number) => {
    all += 1
    if (status !== expected) failures[status] = (failures[status] ?? 0) + 1
    else if (isMeasuring) times.push(took)
  }
  return new Promise((resolve) => {
    const open = Array.from(
      { length: connections },
      (_, index) =>
        new LoadConnection(port, makeSender(requests, index, order.run), pauseMilliseconds, onAnswer),
    )
    setTimeout(() => {
      isMeasuring = true
      const begunAt = performance.now()
      setTimeout(() => {
        const seconds = (performance.now() - begunAt) / 1000
        isMeasuring = false
        const result = summary(times, seconds)
        for (const connection of open) connection.end()
        Promise.all(open.map((connection) => connection.finished)).then(() =>
          resolve({ ...result, all, failures }),
        )
      }, milliseconds)
    }, warmUpMilliseconds)
  })
}

function summary(times: number[], seconds: number): Omit<LoadResult, 'all' | 'failures'> {
  const sorted = Float64Array.from(times).sort()
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  return {
    rate: times.length / seconds,
    requests: times.length,
    p50: at(0.5),
    p99: at(0.99),
    max: sorted.at(-1) ?? 0,
  }
}
