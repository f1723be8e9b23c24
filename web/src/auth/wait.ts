import { useEffect, useState } from 'react'

/** Counts down a wait that the service asked for, in whole seconds. */
export function useWait(): { seconds: number; start(milliseconds: number): void } {
  const [{ now, until }, set] = useState({ now: 0, until: 0 })
  useEffect(() => {
    if (until <= now) return undefined
    const timer = setTimeout(() => set({ now: Date.now(), until }), 1000)
    return () => clearTimeout(timer)
  }, [now, until])
  return {
    seconds: Math.max(0, Math.ceil((until - now) / 1000)),
    start(milliseconds) {
      // One reading of the clock: two could differ by a millisecond, which would show as a second.
      const start = Date.now()
      set({ now: start, until: start + milliseconds })
    },
  }
}
