const answerLimitMilliseconds = 10_000

/** Whether the service answers with the page of this app: only then a reload does not lead away from it. */
export async function isAppThere(): Promise<boolean> {
  try {
    const answer = await fetch('/', {
      cache: 'no-store',
      signal: AbortSignal.timeout(answerLimitMilliseconds),
    })
    return answer.ok && (await answer.text()).includes('id="root"')
  } catch {
    return false
  }
}

const holders = new Set<string>()

/** While a part of the app has something in this page that nobody else has, it is not loaded anew unasked. */
export function holdPage(part: string, isNeeded: boolean): void {
  if (isNeeded) holders.add(part)
  else holders.delete(part)
}

const keyOf = (part: string) => `countersign.reloaded.${part}`

/** True once for each part of the app, until that part has been loaded: a reload that did not help is not repeated. */
export function mayReloadFor(part: string): boolean {
  if (holders.size > 0) return false
  try {
    if (sessionStorage.getItem(keyOf(part)) !== null) return false
    sessionStorage.setItem(keyOf(part), '')
    return true
  } catch {
    return false
  }
}

export function hasLoaded(part: string): void {
  try {
    sessionStorage.removeItem(keyOf(part))
  } catch {
    // Then nothing was kept either.
  }
}
