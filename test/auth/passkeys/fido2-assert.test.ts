import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { newUser, signIn } from '../../support/accounts.ts'
import { Passkey } from '../../support/authenticator.ts'
import { addPasskey, signInOptions } from '../../support/passkeys.ts'
import { testService } from '../../support/service.ts'

const tool = 'fido2-assert'
const isInstalled = spawnSync(tool, ['-V']).error === undefined

/** Debian's fido2-tools: another implementation of the standard than that of the service. */
describe('a touch that the service accepts', { skip: !isInstalled && 'needs fido2-assert' }, () => {
  const service = testService()
  let folder: string
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'countersign-fido2-'))
  })
  after(() => rm(folder, { recursive: true }))

  /** The verdict of fido2-assert about the signature, with presence and verification of the user. */
  async function verify(passkey: Passkey, response: Record<string, string>): Promise<number | null> {
    const { clientDataJSON = '', authenticatorData = '', signature = '' } = response
    const key = join(folder, 'key.pem')
    await writeFile(key, passkey.keys.publicKey.export({ type: 'spki', format: 'pem' }))
    const data = Buffer.from(authenticatorData, 'base64url')
    const lines = [
      createHash('sha256').update(Buffer.from(clientDataJSON, 'base64url')).digest('base64'),
      'orders.example.com',
      // As a byte string of CBOR (RFC 8949 §3.1).
      Buffer.concat([Buffer.from([0x58, data.length]), data]).toString('base64'),
      Buffer.from(signature, 'base64url').toString('base64'),
    ]
    const type = { ES256: 'es256', RS256: 'rs256', EdDSA: 'eddsa' }[passkey.algorithm]
    return spawnSync(tool, ['-V', '-p', '-v', key, type], { input: `${lines.join('\n')}\n` }).status
  }

  for (const algorithm of ['ES256', 'RS256', 'EdDSA'] as const) {
    it(`by ${algorithm} is accepted by fido2-assert, and an altered one is not`, async () => {
      const browser = await signIn(service, await newUser(service))
      await browser.fetchAntiforgeryToken()
      const passkey = new Passkey({ algorithm })
      assert.equal((await addPasskey(browser, passkey)).status, 201)
      const credential = passkey.get(await signInOptions(service))
      assert.equal((await service.client().post('/v1/auth/session/passkey', { credential })).status, 200)
      const { userHandle: _, ...response } = credential.response
      assert.equal(await verify(passkey, response), 0)
      const unverified = passkey.get(await signInOptions(service), { flags: 0x19 })
      const { userHandle: __, ...other } = unverified.response
      assert.equal(await verify(passkey, other), 1)
      assert.equal(await verify(passkey, { ...response, signature: other.signature }), 1)
    })
  }
})
