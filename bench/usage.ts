/** What a measured server tells of itself when asked (probe.mjs). */
export interface Usage {
  /** Processor time of all threads of the process so far. */
  cpuMicroseconds: number
  /** Of it, what was not spent in the system. It varies least when the machine has other work. */
  userMicroseconds: number
  /** Of the main thread alone, in all: what the event loop was held for. */
  mainThreadMicroseconds: number
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
