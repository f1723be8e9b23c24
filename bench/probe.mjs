import { monitorEventLoopDelay } from 'node:perf_hooks'
import { isMainThread } from 'node:worker_threads'

/**
 * Loaded before a measured server. It reports processor time and memory (usage.ts) when asked, at no cost
 * otherwise, and ends the server with the bench, however that ends. It is JavaScript, because the part of
 * Node that strips types would count as memory of the server.
 */
const resolution = 1
let histogram

/** Milliseconds since the last look. The resolution does not count as lateness. */
function takeLateness() {
  if (histogram === undefined) return {}
  const late = (nanoseconds) => Math.max(0, nanoseconds / 1e6 - resolution)
  const lateness = {
    p50: late(histogram.percentile(50)),
    p99: late(histogram.percentile(99)),
    p999: late(histogram.percentile(99.9)),
    max: late(histogram.max),
  }
  histogram.reset()
  return { lateness }
}

function usage() {
  const { user, system } = process.cpuUsage()
  const mainThread = process.threadCpuUsage()
  const { rss, heapUsed, heapTotal, external } = process.memoryUsage()
  return {
    cpuMicroseconds: user + system,
    userMicroseconds: user,
    mainThreadMicroseconds: mainThread.user + mainThread.system,
    residentBytes: rss,
    heapUsedBytes: heapUsed,
    heapTotalBytes: heapTotal,
    externalBytes: external,
    ...takeLateness(),
  }
}

if (isMainThread && process.send !== undefined) {
  process.on('message', (message) => {
    if (message === 'watch') {
      histogram ??= monitorEventLoopDelay({ resolution })
      histogram.enable()
    } else if (message !== 'usage') return
    process.send?.(usage())
  })
  process.on('disconnect', () => process.exit(1))
  process.channel?.unref()
}
