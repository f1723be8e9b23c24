// engine: none
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readReceipt, verifyReceipt } from '../../proof/receipt.ts'
import { type Receipt, signReceipt } from '../../server/audit/checkpoints/receipt.ts'
import { loadSigningKeys } from '../../server/auth/credentials/tokens/keys.ts'
import { forge } from '../support/forge.ts'
import { orderEvent } from '../support/log.ts'

const issuer = 'https://orders.example'
const signedAt = 1_700_000_000_000
const receipt: Receipt = {
  organisation: 'Müller & Söhne',
  order: {
    id: '019a9d2e-5b7c-7f3a-9c41-6d2f8e0b1a57',
    number: 1042,
    version: 3,
    customer: 'Müller & 株式会社 😀',
    total: '99999999999.9999',
    createdBy: 'operator',
    createdById: 2,
    createdAtUtc: '2026-11-20T09:30:00.000Z',
  },
  approvals: [
    { by: 'admin', byId: 1, atUtc: '2026-11-20T10:00:00.000Z', for: 'ann', forId: 4, signature: null },
  ],
  line: { ...orderEvent, sequence: 7, hashes: {}, clear: {}, hash: 'cd'.repeat(32) },
  proof: [],
  checkpoint: 'a signed note\n',
}
const statement = { ...receipt, iss: issuer, iat: signedAt / 1000 }

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

for (const algorithm of ['RS256', 'PS256'] as const) {
  describe(`a receipt signed with ${algorithm}`, async () => {
    const keys = await loadSigningKeys([], algorithm)
    const others = await loadSigningKeys([], algorithm)
    const jws = await signReceipt(keys, issuer, receipt, signedAt)
    const [header = '', payload = '', signature = ''] = jws.split('.')

    it('is read as it was signed, in every script', () => {
      assert.deepEqual(readReceipt(jws), { statement, keyId: keys.kid, algorithm })
    })

    it('is verified by any of several keys of the service', async () => {
      const published = { keys: [...others.jwks.keys, ...keys.jwks.keys] }
      assert.deepEqual(await verifyReceipt(jws, published, issuer), statement)
    })

    it('is refused when any part of it was altered', async () => {
      const cheaper = part({ ...statement, order: { ...receipt.order, total: '1' } })
      const otherSignature = (signature.startsWith('A') ? 'B' : 'A') + signature.slice(1)
      for (const altered of [`${header}.${cheaper}.${signature}`, `${header}.${payload}.${otherSignature}`]) {
        await assert.rejects(verifyReceipt(altered, keys.jwks, issuer), /altered/)
      }
    })

    it('is refused with another key, another issuer, or as another kind of statement', async () => {
      await assert.rejects(verifyReceipt(jws, others.jwks, issuer), /none of the keys/)
      await assert.rejects(verifyReceipt(jws, keys.jwks, 'https://other.example'), /is from https:\/\/orders/)
      const token = forge({ alg: algorithm, kid: keys.kid, typ: 'at+jwt' }, { iss: issuer }, keys.privateKey)
      await assert.rejects(verifyReceipt(token, keys.jwks, issuer), /not a receipt/)
    })

    it('is distinguished from anything that is not a receipt', async () => {
      for (const other of [
        '',
        'a',
        '..',
        'a.b.c',
        '\ud800.a.b',
        `${jws}.a`,
        `${jws}*`,
        `${part([])}.a.b`,
        `bnVsbA.a.b`,
      ]) {
        await assert.rejects(verifyReceipt(other, keys.jwks, issuer), /not a receipt/, other)
      }
    })

    it('is refused if its header names an algorithm that the key is not for', async () => {
      const asking = (alg: string) => {
        const asked = part({ alg, kid: keys.kid, typ: 'countersign-receipt+jwt' })
        return `${asked}.${payload}.${signature}`
      }
      const unknown = ['none', 'HS256', 'toString']
      for (const alg of [...unknown, algorithm === 'RS256' ? 'PS256' : 'RS256'])
        await assert.rejects(verifyReceipt(asking(alg), keys.jwks, issuer), /not for/)
      for (const alg of unknown) {
        const others = { keys: keys.jwks.keys.map((key) => ({ ...key, alg })) }
        await assert.rejects(verifyReceipt(asking(alg), others, issuer), /not for/)
      }
    })
  })
}
