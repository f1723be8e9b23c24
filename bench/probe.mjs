import cluster from 'node:cluster'
import { once } from 'node:events'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { isMainThread } from 'node:worker_threads'

/**
 * Loaded before a measured server: tells its processor time and memory (usage.ts) when asked, which costs it nothing
 * otherwise, and ends it with the bench, however that ends. It is JavaScript, for the part of Node that strips types
 * would count as memory of the server.
 */
const resolution = 1
let histogram

/** Milliseconds. The histogram counts from one look to the next: the resolution is no lateness. */
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

/** With `--workers` each of them has the probe too, and answers its parent. */
function usageOfWorkers() {
  const workers = Object.values(cluster.workers ?? {})
  return Promise.all(
    workers.map(async (worker) => {
      const answer = once(worker, 'message')
      worker.send('usage')
      return (await answer)[0]
    }),
  )
}

/** Of several processes; how late their event loops are is not added up. */
function sum(a, b) {
  const added = Object.keys(a).filter((name) => typeof a[name] === 'number')
  return { ...a, ...Object.fromEntries(added.map((name) => [name, a[name] + b[name]])) }
}

if (isMainThread && process.send !== undefined) {
  process.on('message', async (message) => {
    if (message === 'watch') {
      histogram ??= monitorEventLoopDelay({ resolution })
      histogram.enable()
    } else if (message !== 'usage') return
    process.send?.([usage(), ...(await usageOfWorkers())].reduce(sum))
  })
  process.on('disconnect', () => process.exit(1))
  // A worker gets its keys over the channel, and waits for them.
  if (cluster.isPrimary) process.channel?.unref()
}
