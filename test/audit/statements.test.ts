// engine: SQLite
import assert from 'node:assert/strict'
import { createPublicKey } from 'node:crypto'
import { before, describe, it } from 'node:test'
import jwt from 'jsonwebtoken'
import { type Receipt, readCheckpoint, signCheckpoint, signReceipt } from '../../server/audit/statements.ts'
import type { SigningKeys } from '../../server/auth/credentials/tokens/keys.ts'
import { AccessTokens } from '../../server/auth/credentials/tokens/tokens.ts'
import { decode, encode, forge, parts } from '../support/forge.ts'
import { makeSigningKeys } from '../support/log.ts'
import { publicUrl } from '../support/service.ts'

const now = 1_795_000_000_999
const head = { size: 3, root: 'ab'.repeat(32) }
const receipt: Receipt = {
  organisation: 'Müller & Söhne',
  order: {
    id: '019a0000-0000-7000-8000-000000000000',
    number: 1042,
    version: 2,
    customer: 'Acme',
    total: '12.5',
    createdBy: 'jo',
    createdById: 3,
    createdAtUtc: '2026-11-22T12:00:00.000Z',
  },
  approvals: [
    { by: 'kim', byId: 4, atUtc: '2026-11-22T12:01:00.000Z', for: null, forId: null, signature: null },
  ],
  event: { sequence: 2, hash: 'cd'.repeat(32) },
  checkpoint: head,
}

for (const algorithm of ['RS256', 'PS256'] as const) {
  describe(`statements of the log, by ${algorithm}`, () => {
    let keys: SigningKeys
    let checkpoint: string
    let signedReceipt: string
    before(async () => {
      keys = await makeSigningKeys(algorithm)
      checkpoint = await signCheckpoint(keys, publicUrl, head, now)
      signedReceipt = await signReceipt(keys, publicUrl, receipt, now)
    })

    it('have a distinct type and exactly the claims of the contract', () => {
      const common = { alg: algorithm, kid: keys.kid }
      assert.deepEqual(decode(parts(checkpoint)[0]), { ...common, typ: 'countersign-checkpoint+jwt' })
      assert.deepEqual(decode(parts(signedReceipt)[0]), { ...common, typ: 'countersign-receipt+jwt' })
      assert.deepEqual(decode(parts(checkpoint)[1]), { iss: publicUrl, iat: 1_795_000_000, ...head })
      assert.deepEqual(decode(parts(signedReceipt)[1]), { iss: publicUrl, iat: 1_795_000_000, ...receipt })
    })

    it('are verified by another library with the published key', () => {
      const [jwk] = keys.jwks.keys
      assert.ok(jwk)
      const key = createPublicKey({ key: { ...jwk }, format: 'jwk' })
      for (const statement of [checkpoint, signedReceipt]) {
        jwt.verify(statement, key, { algorithms: [algorithm], issuer: publicUrl })
      }
    })

    it('show what a checkpoint covers, with or without the keys', async () => {
      assert.deepEqual(await readCheckpoint(checkpoint, keys.jwks), head)
      assert.deepEqual(await readCheckpoint(checkpoint, null), head)
    })

    it('are refused as a checkpoint if they were changed, are unsigned, or are signed by another key', async () => {
      const [header, , signature] = parts(checkpoint)
      const changed = [header, encode({ iss: publicUrl, iat: 1, size: 2, hash: head.root }), signature].join(
        '.',
      )
      const stranger = await signCheckpoint(await makeSigningKeys(algorithm), publicUrl, head, now)
      const unsigned = [
        encode({ alg: 'none', typ: 'countersign-checkpoint+jwt' }),
        parts(checkpoint)[1],
        '',
      ].join('.')
      for (const jws of [changed, stranger, unsigned])
        await assert.rejects(readCheckpoint(jws, keys.jwks), Error)
    })

    it('are refused as a checkpoint without a size and a root, even if signed', async () => {
      const ours = { alg: 'RS256', kid: keys.kid, typ: 'countersign-checkpoint+jwt' }
      for (const claims of [
        { size: 3 },
        { root: head.root },
        { ...head, size: -1 },
        { ...head, size: '3' },
      ]) {
        await assert.rejects(readCheckpoint(forge(ours, claims, keys.privateKey), null), /no size and root/)
      }
    })

    it('are refused as a checkpoint if signed by another algorithm, even if the key allows any', async () => {
      const { alg: _, ...key } = keys.jwks.keys[0] ?? assert.fail()
      const header = { kid: keys.kid, typ: 'countersign-checkpoint+jwt' }
      const signed = (alg: string, hash: string) =>
        forge({ ...header, alg }, { ...head }, keys.privateKey, hash)
      assert.deepEqual(await readCheckpoint(signed('RS256', 'sha256'), { keys: [key] }), head)
      await assert.rejects(readCheckpoint(signed('RS512', 'sha512'), { keys: [key] }), /not allowed/)
    })

    it('cannot replace each other, or an access token', async () => {
      const tokens = new AccessTokens(
        keys,
        () => publicUrl,
        () => now,
      )
      const signIn = { id: 'family', authenticatedAt: 0 }
      const subject = { subject: '3', userName: 'jo', roles: [], signIn, credentialsChangedAt: 0 }
      const { token } = await tokens.issue(subject, 900, now)
      assert.notEqual(await tokens.verify(token), undefined)
      assert.equal(await tokens.verify(checkpoint), undefined)
      assert.equal(await tokens.verify(signedReceipt), undefined)
      for (const jwks of [keys.jwks, null]) {
        for (const other of [token, signedReceipt]) await assert.rejects(readCheckpoint(other, jwks), /typ/)
      }
    })

    it('cannot be mistaken for one another by their claims: only an access token has an expiry and an audience', () => {
      for (const statement of [checkpoint, signedReceipt]) {
        const claims = decode(parts(statement)[1])
        const strays = ['exp', 'aud', 'sub', 'client_id', 'jti', 'roles'].filter((name) => name in claims)
        assert.deepEqual(strays, [])
      }
    })
  })
}
