/** What a measured server reports about itself when asked (probe.mjs). */
export interface Usage {
  /** Processor time of all threads of the process so far. */
  cpuMicroseconds: number
  /** The part not spent in the system. It varies least when the machine has other work. */
  userMicroseconds: number
  /** The main thread's alone: for how long the event loop was held. */
  mainThreadMicroseconds: number
  residentBytes: number
  /** The main thread's: what V8 uses, and what it has allocated. */
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
