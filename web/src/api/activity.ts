/** What shows that somebody works here. */
export const activities = ['pointerdown', 'keydown', 'wheel'] as const

/** An answer to what somebody did is asked for within that time; what comes later comes by itself. */
const soonMilliseconds = 1_000

/** Opening the page counts, and so does coming back to it. */
let actedAt = performance.now()
for (const act of [...activities, 'popstate', 'pageshow']) {
  addEventListener(act, () => (actedAt = performance.now()), { capture: true, passive: true })
}

/** Whether what is asked for now may be for a person, and not for the app. */
export function isAskedFor(): boolean {
  return performance.now() - actedAt < soonMilliseconds
}
