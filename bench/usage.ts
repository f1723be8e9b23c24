/** The report of a measured server about itself (probe.mjs). */
export interface Usage {
  /** Processor time of all threads of the process so far. */
  cpuMicroseconds: number
  /** The part not spent in the system. It varies least when the machine has other work. */
  userMicroseconds: number
  /** Processor time of the main thread alone: how long it held the event loop. */
  mainThreadMicroseconds: number
  residentBytes: number
  /** Heap of the main thread: in use, and allocated. */
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
