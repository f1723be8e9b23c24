import '../../support/page.ts'
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'

const { signedInWords } = await import('../../../web/src/orders/decide/sign.ts')

const subject = {
  ...{ id: '1', number: 1042, customer: 'Acme', total: 1250.5, status: 0 as const },
  ...{ createdAtUtc: '2026-11-20T09:30:00.000Z', signedVersion: 3 },
}
const documents = ['Offer.pdf', 'Contract.pdf'].map((name) => ({ name, sha256: name }))
const words = (...subjects: Parameters<typeof signedInWords>[1]) =>
  signedInWords('approve', subjects)?.replace(/[\u2068\u2069]/g, '')

describe('the words next to the touch', () => {
  it('name the documents that are signed', () => {
    assert.equal(words({ ...subject, documents: [] }), 'Your passkey signs: approve #1042, Acme, 1,250.50.')
    assert.equal(
      words({ ...subject, documents }),
      'Your passkey signs: approve #1042, Acme, 1,250.50, with Offer.pdf and Contract.pdf.',
    )
  })

  it('count those of several orders', () => {
    assert.equal(
      words({ ...subject, documents: 2 }, { ...subject, documents: 1 }, { ...subject, documents: 0 }),
      'Your passkey signs with one touch: approve 3 orders with 3 documents.',
    )
    assert.equal(words(subject, subject), 'Your passkey signs with one touch: approve 2 orders.')
  })

  it('are none where nothing is signed', () => {
    assert.equal(words({ ...subject, signedVersion: undefined }), undefined)
  })
})
