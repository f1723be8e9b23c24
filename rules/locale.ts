/** The first variant of English, with Gregorian dates and Latin digits: `en-IR` alone means others. */
export function englishOf(languages: readonly string[] = []): string {
  const english = languages.map(knownLocale).find((tag) => /^en\b/.test(tag)) ?? 'en'
  return new Intl.Locale(english, { calendar: 'gregory', numberingSystem: 'latn' }).toString()
}

/**
 * The time zone that the platform reports; undefined if it is no name that software knows. Browsers report
 * `Etc/Unknown`, an offset, or nothing where the machine has no zone.
 */
export function knownTimeZone(reported: string | undefined): string | undefined {
  try {
    new Intl.DateTimeFormat('en', { timeZone: reported })
    return reported !== undefined && /^[a-z]/i.test(reported) ? reported : undefined
  } catch {
    return undefined
  }
}

/** Falls back to the default of the machine: some systems report invalid tags, such as `en-US@posix`. */
export function knownLocale(tag: string): string {
  try {
    return new Intl.Locale(tag).toString()
  } catch {
    return Intl.NumberFormat().resolvedOptions().locale
  }
}
