/** The first variant of English, with Gregorian dates and Latin digits: `en-IR` alone means others. */
export function englishOf(languages: readonly string[]): string {
  const english = languages.map(knownLocale).find((tag) => /^en\b/.test(tag)) ?? 'en'
  return new Intl.Locale(english, { calendar: 'gregory', numberingSystem: 'latn' }).toString()
}

/** Falls back to the default of the machine: some systems report invalid tags, such as `en-US@posix`. */
export function knownLocale(tag: string): string {
  try {
    return new Intl.Locale(tag).toString()
  } catch {
    return Intl.NumberFormat().resolvedOptions().locale
  }
}
