import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { challengeOf, spellStatement } from '../../../proof/decision.ts'
import { hashesOf } from '../../../proof/line.ts'
import { answerWith, problemWith, serviceIs } from '../../support/page.ts'

const { loadSession } = await import('../../../web/src/auth/session.ts')
const { sign, signedInWords } = await import('../../../web/src/orders/decide/sign.ts')

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

describe('several orders to sign', () => {
  let asked: [id: string, version: number][][] = []
  let answers: Response[] = []
  let now: object = {}
  serviceIs(async (path, request) => {
    if (path === '/v1/auth/me') return answerWith(200, { id: 1, userName: 'mara', roles: [] })
    if (path === '/v1/auth/me/permissions') return answerWith(200, { permissions: [] })
    if (path === '/v1/auth/csrf') return answerWith(200, { token: 'token' })
    if (path === '/v1/orders/2') return answerWith(200, { ...subject, ...now }, { etag: '"4"' })
    if (path === '/v1/orders/2/documents') return answerWith(200, { items: [] })
    if (path !== '/v1/orders/decisions') return answerWith(204)
    const { orders } = await request.json()
    asked.push(orders.map(({ id, version }: { id: string; version: number }) => [id, version]))
    return answers.shift() ?? problemWith(409, 'passkey-needed')
  })
  before(() => loadSession())
  const subjects = ['1', '2', '3'].map((id) => ({ ...subject, id, reason: 'Late.' }))
  const rejecting = (...given: Response[]) => {
    asked = []
    answers = given
    return sign('reject', subjects, new AbortController().signal)
  }

  const refusal = (status: number, code: string) =>
    problemWith(status, code, {}, { errors: [{ pointer: '#/orders/1', code, detail: '' }] })
  const all = [
    ['1', 3],
    ['2', 3],
    ['3', 3],
  ]
  const withoutIt = [
    ['1', 3],
    ['3', 3],
  ]

  it('go without each that the service refuses', async () => {
    const refused = [refusal(409, 'order-not-pending'), refusal(409, 'order-not-pending')]
    assert.equal((await rejecting(...refused)).size, 0)
    assert.deepEqual(asked, [all, withoutIt, [['1', 3]]])
  })

  it('ask again about one whose version alone has changed, and go without one that differs', async () => {
    await rejecting(refusal(412, 'precondition-failed'))
    assert.deepEqual(asked, [
      all,
      [
        ['1', 3],
        ['2', 4],
        ['3', 3],
      ],
    ])
    now = { total: 9_900 }
    await rejecting(refusal(412, 'precondition-failed'))
    assert.deepEqual(asked, [all, withoutIt])
  })

  it('are none without signatures where the failure is about none of them', async () => {
    await assert.rejects(rejecting(problemWith(403, 'permission-denied')))
    assert.deepEqual(asked, [all])
  })
})

describe('a touch is asked for', () => {
  const values = {
    customer: { value: 'Acme', salt: 'ab'.repeat(16) },
    text: { value: 'Late.', salt: 'cd'.repeat(16) },
  }
  const statement = spellStatement({
    ...{ typ: 'countersign-decision', iss: 'https://orders.example', action: 'reject', byId: 1, forId: null },
    order: { id: '1', version: 3, total: '1250.5' },
    ...{ documents: ['Contract.pdf', 'Offer.pdf'], hashes: hashesOf(values), nonce: 'AAAA', until: '' },
  })
  serviceIs(async (path) => {
    if (path === '/v1/auth/me') return answerWith(200, { id: 1, userName: 'mara', roles: [] })
    if (path !== '/v1/orders/decisions') return answerWith(200, { permissions: [], token: 't' })
    const options = { challenge: await challengeOf([statement]) }
    return answerWith(200, { statements: [statement], clear: [values], options })
  })
  const parseRequestOptionsFromJSON = () => {
    throw new Error('a touch is asked for')
  }
  before(async () => {
    Object.assign(globalThis, { PublicKeyCredential: { parseRequestOptionsFromJSON } })
    await loadSession()
  })
  after(() => Reflect.deleteProperty(globalThis, 'PublicKeyCredential'))
  const signing = (changes: object) =>
    sign('reject', [{ ...subject, reason: 'Late.', documents, ...changes }], new AbortController().signal)

  it('if the service would have signed what is shown', async () => {
    for (const shown of [documents, 2, undefined])
      await assert.rejects(signing({ documents: shown }), /is asked for/)
  })

  it('for nothing else', async () => {
    for (const changes of [
      { documents: documents.slice(1) },
      { documents: 1 },
      { total: 1250 },
      { reason: 'Later.' },
      { customer: 'Bolt' },
    ]) {
      await assert.rejects(signing(changes), /a signature of something else/)
    }
  })
})

describe('nothing is asked', () => {
  const { signal } = new AbortController()

  it('of a service or a passkey to withdraw', async () => {
    assert.equal((await sign('withdraw', [subject], signal)).size, 0)
  })

  it('to approve in a browser that knows no passkeys', async () => {
    await assert.rejects(sign('approve', [subject], signal), { name: 'NotSupportedError' })
  })
})
