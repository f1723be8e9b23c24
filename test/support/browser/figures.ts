import type { Page } from 'playwright-core'

/** Installed before the page's scripts: for late observers the browser keeps only the slowest events. */
export const recordInteractions = `{
  const slowest = new Map()
  new PerformanceObserver((list) => {
    for (const { interactionId, duration } of list.getEntries()) {
      if (interactionId) slowest.set(interactionId, Math.max(duration, slowest.get(interactionId) ?? 0))
    }
  }).observe({ type: 'event', durationThreshold: 16, buffered: true })
  Object.defineProperty(globalThis, 'slowestInteractions', { value: slowest })
}`

/** Figures of the page since it was loaded. Times depend on the machine: report them, never assert them. */
export interface Figures {
  firstContentfulPaintMilliseconds: number
  /**
   * Duration of the slowest interaction (INP of up to 50 interactions), in steps of 8 ms. 0: none took 16 ms,
   * the least that a browser reports.
   */
  interactionToNextPaintMilliseconds: number
  scripts: ScriptFigures
}

interface ScriptFigures {
  count: number
  /** The size as sent, without headers, compressed by `encodings`. */
  encodedBytes: number
  decodedBytes: number
  /** Such as `br`; empty for none. */
  encodings: string[]
}

/** The duration of an interaction is known two frames later. */
const collect = `(async () => {
  for (let frame = 0; frame < 3; frame += 1) await new Promise(requestAnimationFrame)
  await new Promise((resolve) => setTimeout(resolve, 50))
  const scripts = performance.getEntriesByType('resource').filter(({ contentType }) => /javascript/.test(contentType))
  const sum = (name) => scripts.reduce((total, entry) => total + entry[name], 0)
  return {
    firstContentfulPaintMilliseconds: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN,
    interactionToNextPaintMilliseconds: Math.max(0, ...slowestInteractions.values()),
    scripts: {
      count: scripts.length,
      encodedBytes: sum('encodedBodySize'),
      decodedBytes: sum('decodedBodySize'),
      encodings: [...new Set(scripts.map(({ contentEncoding }) => contentEncoding))],
    },
  }
})()`

export function figuresOf(page: Page): Promise<Figures> {
  return page.evaluate<Figures>(collect)
}
