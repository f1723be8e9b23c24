/** One entry of the service's catalogue; `remedy` may hold parts in backticks. */
export interface Entry {
  status: number
  title: string
  remedy: string
}

const statusNames: Record<number, string> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  409: 'Conflict',
  412: 'Precondition Failed',
  413: 'Content Too Large',
  414: 'URI Too Long',
  415: 'Unsupported Media Type',
  417: 'Expectation Failed',
  421: 'Misdirected Request',
  422: 'Unprocessable Content',
  428: 'Precondition Required',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
}

/** As in RFC 9110 and the registry of IANA; an unknown status is just its number. */
export function statusName(status: number): string {
  return statusNames[status] ?? ''
}

/** Whether every word of the search is in the code, the status, the title or the remedy. */
export function matches(code: string, { status, title, remedy }: Entry, search: string): boolean {
  const text = `${code} ${status} ${statusName(status)} ${title} ${remedy}`.toLowerCase()
  const words = search.toLowerCase().split(/\s+/)
  return words.every((word) => text.includes(word))
}

/** The codes that `wrong` may have meant, the likeliest first. */
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
