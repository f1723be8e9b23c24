import assert from 'node:assert/strict'
import { it } from 'node:test'
import '../../support/page.ts'
import { Challenges } from '../../../server/auth/credentials/passkeys/challenges.ts'

const { touch } = await import('../../../web/src/auth/passkeys.ts')

const optionsWith = (challenge: string) => ({
  challenge,
  timeout: 300_000,
  rpId: 'orders.example',
  allowCredentials: [],
  userVerification: 'required' as const,
})

it('asks for no touch over what could be the root of a decision', async (t) => {
  const asked: unknown[] = []
  const get = async (options: object) => {
    asked.push(options)
    return { toJSON: () => 'an answer' }
  }
  const PublicKeyCredential = { parseRequestOptionsFromJSON: (options: object) => options }
  Object.assign(globalThis, { PublicKeyCredential })
  Object.defineProperty(navigator, 'credentials', { value: { get }, configurable: true })
  // The tests of other files meet a browser that knows no passkeys.
  t.after(() => {
    Reflect.deleteProperty(globalThis, 'PublicKeyCredential')
    Reflect.deleteProperty(navigator, 'credentials')
  })
  const purposeful = new Challenges(Buffer.alloc(32)).make('sign-in', null, 1_795_000_000_000)
  assert.equal(await touch(optionsWith(purposeful)), 'an answer')
  const text = Buffer.from(purposeful, 'base64url')
  const others = [Buffer.alloc(32, 1), text.subarray(0, 32), Buffer.concat([Buffer.from(' '), text])]
  for (const other of others) {
    await assert.rejects(touch(optionsWith(other.toString('base64url'))), { name: 'DataError' })
  }
  assert.equal(asked.length, 1)
})
