/**
 * Small choices of a person, kept in this browser; where it does not allow that, for this page only. Never anything
 * about orders; of a session only when it ends.
 */
const forThisPage = new Map<string, string>()

export function readSetting(name: string): string | null {
  const here = forThisPage.get(name)
  if (here !== undefined) return here
  try {
    return localStorage.getItem(`countersign.${name}`)
  } catch {
    return null
  }
}

export function writeSetting(name: string, value: string): void {
  forThisPage.set(name, value)
  try {
    localStorage.setItem(`countersign.${name}`, value)
  } catch {
    // Storage is full or forbidden.
  }
}
