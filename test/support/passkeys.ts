import assert from 'node:assert/strict'
import type { TestUser } from './accounts.ts'
import { type Manner, Passkey } from './authenticator.ts'
import type { Answer, Client } from './client.ts'
import type { Service } from './service.ts'

/** Adds the passkey to the account of the caller. */
export async function addPasskey(caller: Client, passkey: Passkey, manner: Manner = {}): Promise<Answer> {
  const options = (await caller.post('/v1/auth/passkeys/options')).body
  return caller.post('/v1/auth/passkeys', { name: 'Phone', credential: passkey.create(options, manner) })
}

/** A passkey of the user, a new one unless one is given. */
export async function newPasskey(
  service: Pick<Service, 'client'>,
  { credentials }: Pick<TestUser, 'credentials'>,
  passkey = new Passkey(),
): Promise<Passkey> {
  const browser = service.client()
  await browser.post('/v1/auth/session', credentials)
  await browser.fetchAntiforgeryToken()
  assert.equal((await addPasskey(browser, passkey)).status, 201)
  return passkey
}

/** Options of a sign-in. */
export async function signInOptions(service: Pick<Service, 'client'>) {
  return (await service.client().post('/v1/auth/session/passkey/options')).body
}

/** A browser in which a touch has signed in, with its antiforgery token. */
export async function signInByPasskey(service: Pick<Service, 'client'>, passkey: Passkey): Promise<Client> {
  const browser = service.client()
  const credential = passkey.get(await signInOptions(service))
  const answer = await browser.post('/v1/auth/session/passkey', { credential })
  assert.equal(answer.status, 200, answer.text)
  await browser.fetchAntiforgeryToken()
  return browser
}
