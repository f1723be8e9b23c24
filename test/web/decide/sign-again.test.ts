import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { challengeOf } from '../../../proof/decision.ts'
import { saltedWith } from '../../../server/audit/audit.ts'
import { newSalt } from '../../../server/ids.ts'
import { Statements } from '../../../server/orders/statements.ts'
import { answerWith, problemWith, serviceIs } from '../../support/page.ts'

const { loadSession } = await import('../../../web/src/auth/session.ts')
const { sign } = await import('../../../web/src/orders/decide/sign.ts')
const statements = new Statements(Buffer.alloc(32, 7))
const subject = {
  ...{ number: 1042, customer: 'Acme', total: 1250.5, status: 0 as const, reason: 'Late.', documents: [] },
  ...{ createdAtUtc: '2026-11-20T09:30:00.000Z', signedVersion: 3, etag: '"3"' },
}
describe('several orders that are signed', () => {
  let tries = 0
  serviceIs(async (path, request) => {
    if (path === '/v1/auth/me') return answerWith(200, { id: 1, userName: 'mara', roles: [] })
    if (path === '/v1/auth/me/permissions') return answerWith(200, { permissions: [] })
    if (path === '/v1/auth/csrf') return answerWith(200, { token: 'token' })
    if (path === '/v1/orders/2') return answerWith(200, { ...subject, id: '2' }, { etag: '"4"' })
    if (path === '/v1/orders/2/documents') return answerWith(200, { items: [] })
    if (path !== '/v1/orders/decisions') return answerWith(204)
    tries += 1
    const code = 'precondition-failed'
    if (tries === 1)
      return problemWith(412, code, {}, { errors: [{ pointer: '#/orders/1', code, detail: '' }] })
    const { orders } = await request.json()
    const made = orders.map(({ id, version }: { id: string; version: number }) => {
      const { clear, hashes } = saltedWith(newSalt(), { by: 'mara', customer: 'Acme', text: 'Late.' })
      const order = { id, version, total: '1250.5' as never }
      const said = {
        iss: 'https://orders.example',
        action: 'reject' as const,
        documents: [],
        order,
        byId: 1,
        forId: null,
        hashes,
      }
      return { clear, text: statements.make(said, Date.now()) }
    })
    const texts = made.map(({ text }: { text: string }) => text)
    const options = {
      challenge: await challengeOf(texts),
      rpId: 'orders.example',
      allowCredentials: [],
      userVerification: 'required',
      timeout: 1,
    }
    return answerWith(200, {
      statements: texts,
      clear: made.map(({ clear }: { clear: object }) => clear),
      options,
    })
  })
  before(() => {
    Object.assign(globalThis, { PublicKeyCredential: { parseRequestOptionsFromJSON: (o: object) => o } })
    const response = { clientDataJSON: 'e30', authenticatorData: 'AA', signature: 'AA' }
    Object.defineProperty(navigator, 'credentials', {
      configurable: true,
      value: { get: async () => ({ toJSON: () => ({ id: 'AA', response }) }) },
    })
    return loadSession()
  })
  it('are sent with the tag of the version that was signed', async () => {
    const subjects = ['1', '2', '3'].map((id) => ({ ...subject, id }))
    const signed = await sign('reject', subjects as never, new AbortController().signal)
    assert.deepEqual(
      [...signed].map(([id, { etag }]) => [id, etag]),
      [
        ['1', '"3"'],
        ['2', '"4"'],
        ['3', '"3"'],
      ],
    )
    for (const [, { signature }] of signed) assert.notEqual(signature, '')
  })
})
