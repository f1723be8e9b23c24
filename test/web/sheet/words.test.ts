import assert from 'node:assert/strict'
import { it } from 'node:test'
import '../../support/page.ts'

const { endWords, partInWords } = await import('../../../web/src/orders/sheet/words.ts')

const created = { kind: 'created' } as const
const known = { kind: 'known' } as const
const failed = { kind: 'failed', why: '' } as const

it('what became of a sheet is said of none, of one and of more', () => {
  assert.equal(partInWords([failed], 3), '0 of 3 orders were created.')
  assert.equal(partInWords([created, failed], 3), '1 of 3 orders was created.')
  assert.equal(partInWords([created, known, failed], 3), '2 of 3 orders were created.')
  assert.equal(endWords([created], 0), '1 order created.')
  assert.equal(endWords([known, failed], 1), '1 order exists. 1 row was not created.')
  assert.equal(endWords([created, known, failed, failed], 2), '2 orders exist. 2 rows were not created.')
})
