import assert from 'node:assert/strict'
import { createPrivateKey, createPublicKey, type KeyObject, type webcrypto } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { compactVerify, createLocalJWKSet, type JWK } from 'jose'
import type { SigningKeys } from '../../server/auth/tokens/keys.ts'
import { AccessTokens } from '../../server/auth/tokens/tokens.ts'

/**
 * Runs the JWS vectors of Wycheproof (github.com/C2SP/wycheproof, Apache-2.0), which are not part of this repository:
 * WYCHEPROOF_JWS names a copy of testvectors_v1/json_web_signature_test.json. What they try of RS256 is tried by
 * token-signatures.test.ts and token-headers.test.ts too, with forgeries of our own.
 */
const file = process.env.WYCHEPROOF_JWS
const now = 1_800_000_000_000
const issuer = 'https://orders.example.com'

interface Vector {
  tcId: number
  comment: string
  jws: string
  result: 'valid' | 'invalid'
}

interface Group {
  comment: string
  private?: webcrypto.JsonWebKey
  public?: JWK
  tests: Vector[]
}

const { testGroups: groups = [] }: { testGroups?: Group[] } =
  file === undefined ? {} : JSON.parse(readFileSync(file, 'utf8'))

/** Groups of an RSA key for the algorithm, published as we publish ours: with its kid, use and algorithm. */
function groupsFor(algorithm: string): { group: Group; published: JWK }[] {
  return groups.flatMap((group) => {
    const { public: key } = group
    const isMeant = key?.kty === 'RSA' && key.alg === algorithm
    return isMeant ? [{ group, published: { ...key, use: 'sig' } }] : []
  })
}

function verifierOf(published: JWK, privateKey: KeyObject): AccessTokens {
  const keys = {
    algorithm: 'RS256',
    kid: String(published.kid),
    privateKey,
    jwks: { keys: [published] },
  } as const
  return new AccessTokens(
    keys as unknown as SigningKeys,
    () => issuer,
    () => now,
  )
}

describe('the vectors of Wycheproof', { skip: file === undefined && 'WYCHEPROOF_JWS names no file' }, () => {
  for (const algorithm of ['RS256', 'PS256'] as const) {
    it(`${algorithm}: the key set and algorithm of our verifier take the valid signatures and no other`, async (t) => {
      let tried = 0
      for (const { group, published } of groupsFor(algorithm)) {
        const keys = createLocalJWKSet({ keys: [published] })
        for (const { tcId, comment, jws, result } of group.tests) {
          const verdict = await compactVerify(jws, keys, { algorithms: [algorithm] }).then(
            () => 'valid',
            () => 'invalid',
          )
          // Two figures of RFC 7520 are valid PS384 under a key that is declared for PS256.
          const isOther = headerOf(jws).alg !== algorithm
          assert.equal(verdict, isOther ? 'invalid' : result, `${tcId} ${comment}`)
          tried += 1
        }
      }
      assert.ok(tried >= 50, `${tried} vectors`)
      t.diagnostic(`${tried} vectors`)
    })
  }

  it('none of them, valid or not, of whatever algorithm, is an access token', async (t) => {
    let tried = 0
    for (const { group, published } of groupsFor('RS256')) {
      const verifier = verifierOf(
        published,
        createPublicKey({ key: published as webcrypto.JsonWebKey, format: 'jwk' }),
      )
      for (const { tests } of [group, ...groups]) {
        for (const { jws, tcId } of tests) {
          assert.equal(await verifier.verify(jws), undefined, String(tcId))
          tried += 1
        }
      }
    }
    assert.ok(tried > 400)
    t.diagnostic(`${tried} tries`)
  })

  it('an access token by the key of such a group is one (so the refusals are not for the key)', async () => {
    const found = groupsFor('RS256').find(({ group }) => group.private !== undefined)
    assert.ok(found?.group.private)
    const privateKey = createPrivateKey({ key: found.group.private, format: 'jwk' })
    const tokens = verifierOf(found.published, privateKey)
    const subject = { subject: '1', kind: 'user', userName: 'a', roles: [], credentialsChangedAt: 0 } as const
    const { token } = await tokens.issue(subject, 900, now)
    assert.equal((await tokens.verify(token))?.subject, '1')
  })
})

function headerOf(jws: string): { alg?: string } {
  try {
    return JSON.parse(Buffer.from(jws.split('.')[0] ?? '', 'base64url').toString())
  } catch {
    return {}
  }
}
