import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { answerWith, happen, hear, problemWith, serviceIs, settled, told } from '../../support/page.ts'

let user = { id: 1, userName: 'mara', roles: ['Admin'] }
let logout = () => answerWith(204)
const asked: string[] = []
const anonymous = () => problemWith(401, 'authentication-required')
const { client } = await import('../../../web/src/api/client.ts')
const { currentSession, endSession, loadSession, ofThisPerson, onForget, signOut } = await import(
  '../../../web/src/auth/session.ts'
)

let forgotten = 0
onForget(() => {
  forgotten += 1
})

async function signedIn(id = 1): Promise<void> {
  user = { id, userName: `user ${id}`, roles: [] }
  await loadSession()
  assert.equal(currentSession().kind, 'signed-in')
}

function aPersonIsThere(): void {
  serviceIs((path) => {
    asked.push(path)
    if (path === '/v1/auth/me') return user.id === 0 ? anonymous() : answerWith(200, user)
    if (path === '/v1/auth/me/permissions') return answerWith(200, { permissions: ['Orders.Read'] })
    if (path === '/v1/auth/csrf') return answerWith(200, { token: 'token' })
    if (path === '/v1/auth/session/logout') return logout()
    if (path === '/v1/orders') return answerWith(201, { id: 'x' })
    throw new Error(`nothing answers ${path}`)
  })
  beforeEach(async () => {
    await signedIn()
    told.length = 0
    forgotten = 0
  })
}

describe('signing out', () => {
  aPersonIsThere()

  for (const [name, answer] of [
    ['of a session', () => answerWith(204)],
    ['of a session that is over already', anonymous],
  ] as const) {
    it(`${name} ends the session here and in the other tabs`, async () => {
      logout = answer
      await signOut()
      assert.deepEqual(currentSession(), { kind: 'anonymous', ending: 'signed-out' })
      assert.deepEqual(told.at(-1), { kind: 'signed-out' })
      assert.equal(forgotten, 1)
    })
  }

  it('does not end the session if it is refused for another reason', async () => {
    logout = () => problemWith(503, 'database-unavailable')
    await assert.rejects(signOut)
    assert.equal(currentSession().kind, 'signed-in')
    assert.deepEqual(told, [])
  })
})

describe('a change while another tab signs someone in', () => {
  aPersonIsThere()
  const sent = () => asked.filter((path) => path === '/v1/orders').length
  const create = () => client.POST('/v1/orders', { body: { customer: 'Acme', total: 1 } })

  it('waits, and is sent if it is the same person, or nobody', async () => {
    for (const end of ['signed-in', 'not-signed-in']) {
      const before = sent()
      hear('countersign', { kind: 'signing-in' })
      const created = create()
      await settled()
      assert.equal(sent(), before)
      hear('countersign', { kind: end })
      await created
      assert.equal(sent(), before + 1)
    }
  })

  it('is never sent as someone else', async () => {
    const before = sent()
    hear('countersign', { kind: 'signing-in' })
    const created = assert.rejects(create())
    user = { id: 2, userName: 'next', roles: [] }
    hear('countersign', { kind: 'signed-in' })
    await created
    assert.equal(sent(), before)
  })
})

describe('data that was fetched for a person', () => {
  aPersonIsThere()

  it('is forgotten when another person signs in', async () => {
    await signedIn(2)
    assert.equal(forgotten, 1)
  })

  it('is kept when the same person is loaded again', async () => {
    await signedIn()
    assert.equal(forgotten, 0)
  })

  it('is forgotten when the session ends', () => {
    endSession('expired')
    assert.equal(forgotten, 1)
  })
})

describe('a request that a person began', () => {
  aPersonIsThere()

  it('is sent and answered while they are there', async () => {
    const send = ofThisPerson(async () => 'sent')
    await signedIn()
    assert.equal(await send(), 'sent')
  })

  it('is not sent once another person is there', async () => {
    let sent = 0
    const send = ofThisPerson(async () => {
      sent += 1
    })
    await signedIn(2)
    await assert.rejects(send)
    assert.equal(sent, 0)
  })

  it('is not reported if its answer comes after they have left', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const sending = ofThisPerson(() => promise)()
    endSession('expired')
    resolve()
    await assert.rejects(sending)
  })

  it('goes on if it began before it was known that nobody is signed in', async () => {
    happen('pagehide', true)
    const send = ofThisPerson(async () => 'sent')
    user = { ...user, id: 0 }
    await loadSession()
    assert.equal(currentSession().kind, 'anonymous')
    assert.equal(await send(), 'sent')
  })
})

describe('a page in the back-forward cache', () => {
  aPersonIsThere()

  it('shows no session, and asks for it when the page is restored', async () => {
    happen('pagehide', true)
    assert.deepEqual(currentSession(), { kind: 'loading' })
    assert.equal(forgotten, 1)
    user = { ...user, id: 0 }
    happen('pageshow', true)
    await new Promise(setImmediate)
    assert.deepEqual(currentSession(), { kind: 'anonymous', ending: 'expired' })
    // The early requests, before it was known that nobody is signed in.
    assert.equal(forgotten, 2)
  })

  it('changes nothing if it is left for good or shown for the first time', () => {
    asked.length = 0
    happen('pagehide', false)
    happen('pageshow', false)
    assert.equal(currentSession().kind, 'signed-in')
    assert.deepEqual(asked, [])
  })
})
