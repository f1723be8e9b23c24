/** Events that show that someone is using the page. */
export const activities = ['pointerdown', 'keydown', 'wheel'] as const

/**
 * A request this soon after the person did something is a result of it. A later one comes from the app.
 */
const soonMilliseconds = 1_000

/** Opening the page counts as activity, and so does coming back to it. */
let actedAt = performance.now()
for (const act of [...activities, 'popstate', 'pageshow']) {
  addEventListener(act, () => (actedAt = performance.now()), { capture: true, passive: true })
}

/** Whether a request sent now may be the result of something the person did. */
export function isAskedFor(): boolean {
  return performance.now() - actedAt < soonMilliseconds
}
