import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { bearerOf, newUser } from '../../support/accounts.ts'
import { accountEvents } from '../../support/administration.ts'
import { decide, prepare, sign } from '../../support/decisions.ts'
import { createdId } from '../../support/orders.ts'
import { newPasskey } from '../../support/passkeys.ts'
import { assertInvalid } from '../../support/problem.ts'
import { setUp, testService } from '../../support/service.ts'

describe('the name of a user as it is printed', () => {
  const service = testService()
  const admin = setUp(() => service.bearer('admin'))
  const user = setUp(() => newUser(service, { roles: ['Admin'] }))
  const rename = async (name: string | null, id = user.id) =>
    assert.equal((await admin.patch(`/v1/users/${id}`, { name })).status, 204)
  const read = async () => (await admin.get(`/v1/users/${user.id}`)).body.name

  it('can be set, changed and taken away, and the log has each change', async () => {
    await rename('  Ann Mary Lee ')
    assert.equal(await read(), 'Ann Mary Lee')
    await rename('Ann Mary Lee')
    await rename(null)
    assert.equal(await read(), null)
    const changes = (await accountEvents(service, user.id)).filter(({ kind }) => kind === 'user-changed')
    assert.deepEqual(
      changes.map(({ data }) => data.printedName),
      ['Ann Mary Lee', null],
    )
  })

  it('can come with a new user', async () => {
    const body = { userName: 'printed', name: 'P. Rinted', email: 'printed@example.com', roles: [] }
    const { id } = (await admin.post('/v1/users', body)).body
    assert.equal((await admin.get(`/v1/users/${id}`)).body.name, 'P. Rinted')
    assert.equal((await accountEvents(service, id))[0]?.data.printedName, 'P. Rinted')
  })

  it('has 1 to 100 characters', async () => {
    for (const name of ['', ' ', 'a'.repeat(101), 'a\u202eb', 7]) {
      assertInvalid(await admin.patch(`/v1/users/${user.id}`, { name }), ['#/name'])
    }
    await rename('🜁'.repeat(100))
  })

  it('is in the history and the approvals of an order as it was when something happened', async () => {
    await rename('Ann Lee')
    const deputy = await newUser(service, { roles: ['Viewer'] })
    await rename('Bo Lind', deputy.id)
    const [ann, bo] = [await bearerOf(service, user), await bearerOf(service, deputy)]
    const until = new Date(service.now() + 3_600_000).toISOString()
    const absence = { from: new Date(service.now()).toISOString(), until, deputyId: deputy.id }
    assert.equal((await ann.send('PUT', '/v1/auth/absence', absence)).status, 204)
    const id = await createdId(ann)
    assert.equal((await bo.patch(`/v1/orders/${id}/approve`)).status, 204)
    await rename('Ann Other')
    const { items } = (await admin.get(`/v1/orders/${id}/history`)).body
    const namesIn = (event: Record<string, unknown>) =>
      [event.by, event.byName, event.for, event.forName].join(' ')
    assert.deepEqual(items.map(namesIn), [
      `${user.userName} Ann Lee  `,
      `${deputy.userName} Bo Lind ${user.userName} Ann Lee`,
    ])
    const { given } = (await admin.get(`/v1/orders/${id}/approvals`)).body
    assert.equal(namesIn(given[0]), namesIn(items[1]))
  })

  it('is part of a statement that a passkey signs', async () => {
    const signer = await newUser(service, { roles: ['Admin'] })
    await rename('Si Gner', signer.id)
    const passkey = await newPasskey(service, signer)
    const caller = await bearerOf(service, signer)
    const id = await createdId(admin)
    const prepared = await prepare(caller, { orders: [{ id, version: 1 }] })
    assert.equal(prepared.body.clear[0].byName.value, 'Si Gner')
    const [signed] = await sign(caller, passkey, { orders: [{ id, version: 1 }] })
    assert.equal((await decide(caller, id, signed)).status, 204)
  })
})
