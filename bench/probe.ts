import { monitorEventLoopDelay } from 'node:perf_hooks'
import { isMainThread } from 'node:worker_threads'

/**
 * Loaded before a measured server: tells its processor time and memory when asked, which costs it nothing otherwise, and
 * ends it with the bench, however that ends.
 */
export interface Usage {
  /** Processor time of all threads of the process so far. */
  cpuMicroseconds: number
  /** Of it, what was not spent in the system. It varies least when the machine has other work. */
  userMicroseconds: number
  residentBytes: number
  /** Of the main thread: what V8 has in use, and what it has taken for it. */
  heapUsedBytes: number
  heapTotalBytes: number
  /** Outside of V8's heap: buffers. */
  externalBytes: number
  /** What the event loop was late by since the last answer, from the first `watch` on. */
  lateness?: Lateness
}

export interface Lateness {
  p50: number
  p99: number
  p999: number
  max: number
}

/** `watch`: from now on look every millisecond how late the event loop is, which does cost something. */
export type ProbeMessage = 'usage' | 'watch'

const resolution = 1
let histogram: ReturnType<typeof monitorEventLoopDelay> | undefined

/** Milliseconds. The histogram counts from one look to the next: the resolution is no lateness. */
function takeLateness(): Lateness | undefined {
  if (histogram === undefined) return undefined
  const late = (nanoseconds: number) => Math.max(0, nanoseconds / 1e6 - resolution)
  const lateness = {
    p50: late(histogram.percentile(50)),
    p99: late(histogram.percentile(99)),
    p999: late(histogram.percentile(99.9)),
    max: late(histogram.max),
  }
  histogram.reset()
  return lateness
}

function usage(): Usage {
  const { user, system } = process.cpuUsage()
  const { rss, heapUsed, heapTotal, external } = process.memoryUsage()
  const lateness = takeLateness()
  return {
    cpuMicroseconds: user + system,
    userMicroseconds: user,
    residentBytes: rss,
    heapUsedBytes: heapUsed,
    heapTotalBytes: heapTotal,
    externalBytes: external,
    ...(lateness === undefined ? {} : { lateness }),
  }
}

if (isMainThread && process.send !== undefined) {
  process.on('message', (message: ProbeMessage) => {
    if (message === 'watch') {
      histogram ??= monitorEventLoopDelay({ resolution })
      histogram.enable()
    }
    process.send?.(usage())
  })
  process.on('disconnect', () => process.exit(1))
  process.channel?.unref()
}
