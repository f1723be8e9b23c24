import { inTab } from './persist.ts'

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

const keyOf = (part: string) => `reloaded.${part}`

/** True once per part of the app until that part has loaded: a reload that did not help is not repeated. */
export function mayReloadFor(part: string): boolean {
  return holders.size === 0 && inTab.read(keyOf(part)) === null && inTab.write(keyOf(part), '')
}

export function hasLoaded(part: string): void {
  inTab.drop(keyOf(part))
}
