/** One entry of the service's catalogue; `remedy` may hold parts in backticks. */
export interface Entry {
  status: number
  /** The status in words. */
  reason: string
  /** A path that may give this answer. */
  instance: string
  title: string
  remedy: string
}

/** Whether every word of the search is in the code, the status, the title or the remedy. */
export function matches(code: string, { status, reason, title, remedy }: Entry, search: string): boolean {
  const text = `${code} ${status} ${reason} ${title} ${remedy}`.toLowerCase()
  const words = search.toLowerCase().split(/\s+/)
  return words.every((word) => text.includes(word))
}

/** The codes that `wrong` may be meant to be, the most likely first. */
export function nearestCodes(wrong: string, codes: readonly string[], limit = 4): string[] {
  const given = wrong.toLowerCase().slice(0, 80)
  const words = new Set(given.split(/[^a-z0-9]+/))
  const rated = codes.map((code) => {
    const shared = code.split('-').filter((word) => words.has(word)).length
    const unlike = distance(given, code) / Math.max(given.length, code.length)
    return { code, unlike: unlike - shared }
  })
  return rated
    .sort((a, b) => a.unlike - b.unlike)
    .slice(0, limit)
    .map(({ code }) => code)
}

/** How many characters have to be inserted, removed or replaced (Levenshtein). */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (const [line, character] of [...a].entries()) {
    const next = [line + 1]
    for (let at = 1; at < row.length; at += 1) {
      const replaced = (row[at - 1] ?? 0) + (b[at - 1] === character ? 0 : 1)
      next.push(Math.min(replaced, (row[at] ?? 0) + 1, (next[at - 1] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
