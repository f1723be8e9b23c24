import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { hash } from '@node-rs/argon2'
import { hash as bcrypt } from '@node-rs/bcrypt'
import { markImported } from '../../server/auth/credentials/passwords/imported.ts'
import { newUser, type TestUser } from '../support/accounts.ts'
import { storedEvents } from '../support/kept-log.ts'
import { stamp } from '../support/orders.ts'
import { type Service, testService } from '../support/service.ts'

const password = 'what we called it elsewhere'
const own = /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/

/** A user whose password another program hashed. */
async function importedUser(service: Service, passwordHash: string): Promise<TestUser> {
  const user = await newUser(service)
  const input = { account: user.account, passwordHash: markImported(passwordHash), stamp: stamp() }
  await service.db.write('setPassword', input)
  return { ...user, credentials: { email: user.email, password } }
}

async function storedHash(service: Service, { id }: TestUser): Promise<string | null> {
  const query = service.db.read.selectFrom('users').select('password_hash').where('principal_id', '=', id)
  return (await query.executeTakeFirstOrThrow()).password_hash
}

const forms: Record<string, () => Promise<string>> = {
  Argon2id: () => hash(password, { algorithm: 2, memoryCost: 1_024, timeCost: 3, parallelism: 2 }),
  Argon2i: () => hash(password, { algorithm: 1, memoryCost: 512, timeCost: 3, parallelism: 1 }),
  Argon2d: () => hash(password, { algorithm: 0, memoryCost: 512, timeCost: 1, parallelism: 4 }),
  'Argon2id at our own cost': () =>
    hash(password, { algorithm: 2, memoryCost: 19_456, timeCost: 2, parallelism: 1 }),
}

for (const version of ['2a', '2b', '2y']) {
  forms[`bcrypt ($${version}$)`] = async () => (await bcrypt(password, 4)).replace(/^\$2./, `$${version}`)
}

describe('an imported password', () => {
  const service = testService()

  for (const [name, make] of Object.entries(forms)) {
    it(`hashed by ${name} signs in, and is hashed again at the first sign-in`, async () => {
      const user = await importedUser(service, await make())
      const events = (await storedEvents(service.db.read)).length
      assert.equal((await service.client().post('/v1/auth/session', user.credentials)).status, 200)
      const renewed = await storedHash(service, user)
      assert.match(renewed ?? '', own)
      assert.equal((await service.client().post('/v1/auth/token', user.credentials)).status, 200)
      assert.equal(await storedHash(service, user), renewed)
      assert.equal((await storedEvents(service.db.read)).length, events)
    })
  }

  it('stays as it is after a wrong password, and while its user is disabled', async () => {
    const user = await importedUser(service, await hash(password))
    const kept = await storedHash(service, user)
    const sign = (credentials: object) => service.client().post('/v1/auth/session', credentials)
    assert.equal((await sign({ ...user.credentials, password: 'something else' })).status, 401)
    await service.db.write('setAccountEnabled', { account: user.account, enabled: false, stamp: stamp() })
    assert.equal((await sign(user.credentials)).status, 401)
    assert.equal(await storedHash(service, user), kept)
  })

  it('signs in each of several simultaneous requests', async () => {
    const user = await importedUser(service, await hash(password))
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => service.client().post('/v1/auth/token', user.credentials)),
    )
    const statuses = answers.map(({ status }) => status)
    assert.deepEqual(statuses, [200, 200, 200, 200, 200])
    assert.match((await storedHash(service, user)) ?? '', own)
  })
})
