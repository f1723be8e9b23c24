import assert from 'node:assert/strict'
import { createPublicKey } from 'node:crypto'
import { before, describe, it } from 'node:test'
import jwt from 'jsonwebtoken'
import { signReceipt } from '../../server/audit/checkpoints/receipt.ts'
import type { SigningKeys } from '../../server/auth/credentials/tokens/keys.ts'
import { AccessTokens } from '../../server/auth/credentials/tokens/tokens.ts'
import { decode, parts } from '../support/forge.ts'
import { makeSigningKeys, orderEvent } from '../support/log.ts'
import { publicUrl } from '../support/service.ts'

const now = 1_795_000_000_999
const line = { ...orderEvent, sequence: 2, hashes: {}, clear: {}, hash: 'cd'.repeat(32) }
const receipt = { lines: [{ line, proof: [] }], checkpoint: 'a signed note\n' }

for (const algorithm of ['RS256', 'PS256'] as const) {
  describe(`a receipt, by ${algorithm}`, () => {
    let keys: SigningKeys
    let signedReceipt: string
    before(async () => {
      keys = await makeSigningKeys(algorithm)
      signedReceipt = await signReceipt(keys, publicUrl, receipt, now)
    })

    it('has a distinct type and exactly the claims of the contract', () => {
      const common = { alg: algorithm, kid: keys.kid }
      assert.deepEqual(decode(parts(signedReceipt)[0]), { ...common, typ: 'countersign-receipt+jwt' })
      assert.deepEqual(decode(parts(signedReceipt)[1]), { iss: publicUrl, iat: 1_795_000_000, ...receipt })
    })

    it('is verified by another library with the published key', () => {
      const [jwk] = keys.jwks.keys
      assert.ok(jwk)
      const key = createPublicKey({ key: { ...jwk }, format: 'jwk' })
      jwt.verify(signedReceipt, key, { algorithms: [algorithm], issuer: publicUrl })
    })

    it('cannot replace an access token', async () => {
      const tokens = new AccessTokens(
        keys,
        () => publicUrl,
        () => now,
      )
      const signIn = { id: 'family', authenticatedAt: 0 }
      const subject = { subject: '3', userName: 'jo', roles: [], signIn, credentialsChangedAt: 0 }
      const { token } = await tokens.issue(subject, 900, now)
      assert.notEqual(await tokens.verify(token), undefined)
      assert.equal(await tokens.verify(signedReceipt), undefined)
    })

    it('cannot be mistaken for an access token by its claims: only that has an expiry and an audience', () => {
      const claims = decode(parts(signedReceipt)[1])
      const strays = ['exp', 'aud', 'sub', 'client_id', 'jti', 'roles'].filter((name) => name in claims)
      assert.deepEqual(strays, [])
    })
  })
}
