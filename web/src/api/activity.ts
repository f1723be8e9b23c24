/** Events that show that someone is at work here. */
export const activities = ['pointerdown', 'keydown', 'wheel'] as const

/** A request this soon after an act of the person is an answer to it; a later one comes from the app. */
const soonMilliseconds = 1_000

/** Opening the page counts as an act, and so does coming back to it. */
let actedAt = performance.now()
for (const act of [...activities, 'popstate', 'pageshow']) {
  addEventListener(act, () => (actedAt = performance.now()), { capture: true, passive: true })
}

/** Whether a request that is sent now may be an answer to an act of the person. */
export function isAskedFor(): boolean {
  return performance.now() - actedAt < soonMilliseconds
}
