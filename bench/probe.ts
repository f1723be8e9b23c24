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
}

if (isMainThread && process.send !== undefined) {
  process.on('message', () => {
    const { user, system } = process.cpuUsage()
    const residentBytes = process.memoryUsage.rss()
    const usage: Usage = { cpuMicroseconds: user + system, userMicroseconds: user, residentBytes }
    process.send?.(usage)
  })
  process.on('disconnect', () => process.exit(1))
  process.channel?.unref()
}
