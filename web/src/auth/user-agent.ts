/** In this order, because most browsers also use the names of older ones. */
const browsers: [mark: string, name: string][] = [
  ['Edg', 'Edge'],
  ['OPR/', 'Opera'],
  ['FxiOS/', 'Firefox'],
  ['Firefox/', 'Firefox'],
  ['CriOS/', 'Chrome'],
  ['Chrome/', 'Chrome'],
  ['Safari/', 'Safari'],
]
const systems: [mark: string, name: string][] = [
  ['Windows', 'Windows'],
  ['Android', 'Android'],
  ['iPhone', 'iPhone'],
  ['iPad', 'iPad'],
  ['Mac OS X', 'Mac'],
  ['CrOS', 'ChromeOS'],
  ['Linux', 'Linux'],
]

/**
 * Such as `Firefox on Windows`, from the `User-Agent` (RFC 9110, 10.1.5) of a browser; undefined for other
 * software.
 */
export function browserOf(userAgent: string): string | undefined {
  const nameIn = (marks: typeof browsers) => marks.find(([mark]) => userAgent.includes(mark))?.[1]
  const [browser, system] = [nameIn(browsers), nameIn(systems)]
  return browser && system && `${browser} on ${system}`
}
