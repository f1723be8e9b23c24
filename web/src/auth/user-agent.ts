/** The first that is found is meant: most browsers call themselves by their forebears' names too. */
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

/** `Firefox on Windows` of a `User-Agent` (RFC 9110, 10.1.5) that a browser sends; undefined of any other. */
export function browserOf(userAgent: string): string | undefined {
  const nameIn = (marks: typeof browsers) => marks.find(([mark]) => userAgent.includes(mark))?.[1]
  const [browser, system] = [nameIn(browsers), nameIn(systems)]
  return browser && system && `${browser} on ${system}`
}
