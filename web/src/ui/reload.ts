const answerLimitMilliseconds = 10_000

/** Whether the service answers with this app, so that a reload does not lose it. */
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

/** While a part of the app holds something unsaved, the page is not reloaded unasked. */
export function holdPage(part: string, isNeeded: boolean): void {
  if (isNeeded) holders.add(part)
  else holders.delete(part)
}

const keyOf = (part: string) => `countersign.reloaded.${part}`

/** True once per part of the app until that part has loaded: a reload that did not help is not repeated. */
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
    // Nothing was stored either.
  }
}
