import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { piecesOf } from '../../../web/src/ui/backticks.ts'

describe('code in a sentence of the service', () => {
  it('is what stands between backticks', () => {
    assert.deepEqual(piecesOf('Wait `Retry-After` seconds.'), [
      { at: 0, text: 'Wait ', isCode: false },
      { at: 1, text: 'Retry-After', isCode: true },
      { at: 2, text: ' seconds.', isCode: false },
    ])
  })
})
