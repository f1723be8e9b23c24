// engine: none
import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import Papa from 'papaparse'
import { textCell, unguarded } from '../rules/cell.ts'
import { forAll } from './support/for-all.ts'

it('a cell of a CSV file is read back as what was written', () => {
  const sign = fc.constantFrom("'", '=', '+', '-', '@', '＝', '\t', '\r', ';', ' ', '"', ',', '\n', 'a')
  const text = fc.array(sign, { minLength: 1, maxLength: 8 }).map((signs) => signs.join(''))
  forAll(3_000, text, (written) => {
    const [[read = ''] = []] = Papa.parse<string[]>(`${textCell(written)},x\r\n`, {
      delimiter: ',',
      newline: '\r\n',
    }).data
    assert.equal(unguarded(read), written)
  })
  assert.equal(textCell("'=A"), "''=A")
  assert.equal(textCell("it's = 1"), "it's = 1")
})
