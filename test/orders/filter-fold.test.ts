// engine: none
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { foldText } from '../../server/orders/fold.ts'
import { anyCharacter } from '../support/any-character.ts'
import { forAll } from '../support/for-all.ts'

/** The characters of planes 0 to 2; in the others none has cases or compatibility forms. */
function* everyCharacter(): Generator<string> {
  for (let codePoint = 0; codePoint < 0xd800; codePoint += 1) yield String.fromCodePoint(codePoint)
  for (let codePoint = 0xe000; codePoint < 0x30000; codePoint += 1) yield String.fromCodePoint(codePoint)
}

const marks = ['\u0307', '\u0323', '\u0345', '\u0301', '\u0308', '\u0328']
const trickyLetters = 'i I ı İ ß ẞ Σ σ ς ᾳ ŉ ǰ K ﷺ ﬁ 가'.split(' ')
const trickyText = fc
  .array(
    fc.oneof(
      fc.constantFrom(...trickyLetters, ...marks),
      fc.string({ unit: anyCharacter, minLength: 1, maxLength: 1 }),
    ),
    { maxLength: 12 },
  )
  .map((characters) => characters.join(''))

describe('foldText gives one text for', () => {
  const same: [string, string][] = [
    ['ß and SS', 'Straße|STRASSE'],
    ['ß and ss', 'Straße|strasse'],
    ['ẞ and ß', 'STRAẞE|straße'],
    ['final sigma and sigma', 'ΟΔΟΣ|οδος'],
    ['final sigma and the other sigma', 'οδοσ|οδος'],
    ['the Kelvin sign and k', '300 \u212a|300 k'],
    ['fullwidth and ASCII', 'ＡＣＭＥ％|acme%'],
    ['ligatures and letters', 'ﬁnance|FINANCE'],
    ['composed and decomposed letters', 'Café|Cafe\u0301'],
    ['dotted capital I and i', 'İstanbul|istanbul'],
    ['the two code points of its lower-case form and i', 'i\u0307stanbul|istanbul'],
    ['dotless i and I', 'ısparta|ISPARTA'],
  ]
  for (const [title, pair] of same) {
    it(title, () => {
      const [left = '', right = ''] = pair.split('|')
      assert.equal(foldText(left), foldText(right))
    })
  }
})

describe('foldText', () => {
  it('distinguishes letters that differ by more than case', () => {
    const folds = Array.from('aäâáåoøsšnñ', foldText)
    assert.equal(new Set(folds).size, folds.length)
  })

  it('folds ASCII like lower() of a database, and drops no character', () => {
    const ascii = Array.from({ length: 128 }, (_, unit) => String.fromCharCode(unit)).join('')
    assert.equal(
      foldText(ascii),
      ascii.replace(/[A-Z]/g, (letter) => letter.toLowerCase()),
    )
  })

  it('folds every case and normal form of a character to the same text', () => {
    const forms = [
      (text: string) => text.toLowerCase(),
      (text: string) => text.toUpperCase(),
      (text: string) => text.normalize('NFD'),
      (text: string) => text.normalize('NFKC'),
      foldText,
    ]
    const strays: string[] = []
    for (const character of everyCharacter()) {
      const fold = foldText(character)
      const isStray = forms.some((form) => foldText(form(character)) !== fold)
      strays.push(...(isStray ? [character] : []))
    }
    assert.deepEqual(strays, [])
  })

  it('is idempotent', () => {
    forAll(3000, trickyText, (text) => foldText(foldText(text)) === foldText(text))
  })

  it('folds a fragment as it folds within the whole text', () => {
    const letters = fc.string({
      unit: fc.constantFrom('Σ', 'ς', 'ß', 'ẞ', 'İ', 'ı', 'I', 'K', 'ﬁ', 'é', ' ', 'x'),
    })
    forAll(2000, letters, letters, letters, (before, fragment, after) =>
      foldText(before + fragment + after).includes(foldText(fragment)),
    )
  })
})
