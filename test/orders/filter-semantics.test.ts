import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { instantOfId } from '../../server/ids.ts'
import { idsBySearch, idsByText } from '../../server/orders/filter/id.ts'
import { filterTable, ids } from '../support/filter-table.ts'
import { orderRow } from '../support/orders.ts'

const idsFound = filterTable(ids.map((id) => orderRow({ id, created_at: instantOfId(id) })))

/** In spellings that the oracle does not draw. */
describe('an id', () => {
  const [first = '', second = '', ...others] = ids
  const family = [first, second]
  const searches: [string, string[]][] = [
    ['019a000000007000', family],
    ['019a0000-00007000', family],
    [first.replaceAll('-', ''), [first]],
    ['０１９ａ００００', family],
    ['019', []],
    ['019-a0000', []],
    ['019a0000--0000', []],
    ['-019a0000-', others],
    [`${first}0`, []],
    [`id="${first} "`, []],
    [`id=${first.replaceAll('-', '')}`, []],
    ['id=019a00000*', []],
  ]
  for (const [text, expected] of searches) {
    it(text, async () => assert.deepEqual(await idsFound(text), expected))
  }
})

describe('the bounds of a range of ids, uuids because PostgreSQL refuses anything else,', () => {
  const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
  const whole = '019a0000-0000-7000-8000-00000000000f'
  const hex = whole.replaceAll('-', '')

  it('exist if a text begins an id', () => {
    const prefixes = Array.from({ length: whole.length + 1 }, (_, length) =>
      idsByText(whole.slice(0, length), true),
    )
    const searches = Array.from({ length: 29 }, (_, index) => idsBySearch(hex.slice(0, index + 4)))
    for (const range of [...prefixes, ...searches]) {
      assert.match(range?.low ?? '', uuid)
      assert.match(range?.high ?? '', uuid)
    }
  })

  it('do not exist otherwise', () => {
    const texts = [`${whole}0`, `${hex}0`, `${whole}-`, `${hex}-`, hex, 'g', '019a0000_', '019a%', '-', '😀']
    const strays = [...texts, `${whole.slice(0, 35)}g`, `${whole.slice(0, 35)}٣`, `${hex}0000`]
    for (const text of strays) assert.equal(idsByText(text, true), null, text)
    const searches = [`${whole}0`, `${hex}0`, `${whole}-`, '019g', '019', '-019a', '', 'face it']
    for (const text of searches) assert.equal(idsBySearch(text), null, text)
  })
})
