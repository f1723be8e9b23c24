import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { englishOf, knownTimeZone } from '../../../rules/locale.ts'

describe('the language of words, dates and digits', () => {
  const known: [string[], string, string][] = [
    [['en-GB', 'en'], '1,234.5', '23 Nov 2026'],
    [['en-US'], '1,234.5', 'Nov 23, 2026'],
    [['de-DE', 'de', 'en-GB'], '1,234.5', '23 Nov 2026'],
    [['ar-EG'], '1,234.5', 'Nov 23, 2026'],
    [['fa-IR', 'fa'], '1,234.5', 'Nov 23, 2026'],
    [['th-TH', 'en-TH'], '1,234.5', 'Nov 23, 2026'],
    [['en-u-ca-persian-nu-arab'], '1,234.5', 'Nov 23, 2026'],
    [['en-US@posix'], '1,234.5', 'Nov 23, 2026'],
    [[], '1,234.5', 'Nov 23, 2026'],
  ]
  for (const [languages, number, date] of known) {
    it(`is one variety of English for a browser set to ${languages.join(', ') || 'nothing'}`, () => {
      const locale = englishOf(languages)
      assert.equal(new Intl.NumberFormat(locale).format(1234.5), number)
      const format = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' })
      assert.equal(format.format(Date.UTC(2026, 10, 23)), date)
    })
  }
})

describe('the time zone of a browser', () => {
  it('is the one that it names, if the service knows such names', () => {
    for (const zone of ['Europe/Berlin', 'UTC', 'Asia/Calcutta', 'Etc/GMT+3']) {
      assert.equal(knownTimeZone(zone), zone)
    }
    for (const zone of [undefined, '', 'Etc/Unknown', '+01:00', 'Mars/Olympus']) {
      assert.equal(knownTimeZone(zone), undefined)
    }
  })
})
