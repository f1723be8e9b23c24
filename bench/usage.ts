/** What a measured server reports about itself when asked (probe.mjs). */
export interface Usage {
  /** Processor time of all threads of the process so far. */
  cpuMicroseconds: number
  /** The part not spent in the system. It varies least when the machine has other work. */
  userMicroseconds: number
  /** Processor time of the main thread alone: how long it held the event loop. */
  mainThreadMicroseconds: number
  residentBytes: number
  /** What V8 uses in the main thread, and what it has allocated. */
  heapUsedBytes: number
  heapTotalBytes: number
  /** Outside of V8's heap: buffers. */
  externalBytes: number
  /** How late the event loop was since the last answer. Present after the first `watch`. */
  lateness?: Lateness
}

export interface Lateness {
  p50: number
  p99: number
  p999: number
  max: number
}

/** `watch`: from now on, check every millisecond how late the event loop is. This has a cost. */
export type ProbeMessage = 'usage' | 'watch'
