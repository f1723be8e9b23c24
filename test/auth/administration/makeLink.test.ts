import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Permission } from '../../../server/caller/permissions.ts'
import { machineStamp } from '../../../server/caller/stamp.ts'
import {
  bearerOf,
  grantRoles,
  newUser,
  revokeRoles,
  setEnabled,
  setPassword,
  signIn,
} from '../../support/accounts.ts'
import { accountEvents, idOf } from '../../support/administration.ts'
import { assertProblem } from '../../support/problem.ts'
import { addRole } from '../../support/roles.ts'
import { publicUrl, setUp, testService } from '../../support/service.ts'

const newPassword = 'eleven kites beyond the ferry'

describe('makeLink', () => {
  const service = testService()
  const admin = setUp(() => service.bearer('admin'))

  const tokenOf = (link: string) => new URLSearchParams(new URL(link).hash.slice(1)).get('token')
  const make = (id: number | string) => admin.post(`/v1/users/${id}/links`)
  const use = (token: string | null) => service.client().post('/v1/auth/links/use', { token, newPassword })

  it('answers 201 with a link to the web app, whose token is after the # and never stored', async () => {
    const user = await newUser(service)
    const answer = await make(user.id)
    assert.equal(answer.status, 201)
    const { link, expiresAtUtc } = answer.body
    assert.ok(link.startsWith(`${publicUrl}/link#`))
    assert.equal(new URLSearchParams(new URL(link).hash.slice(1)).get('email'), user.email)
    assert.equal(expiresAtUtc, new Date(service.now() + 24 * 3_600_000).toISOString())
    const token = tokenOf(link) ?? assert.fail('no token')
    const rows = await service.db.read.selectFrom('one_time_links').selectAll().execute()
    assert.ok(!JSON.stringify(rows).includes(token))
  })

  it('lets an invited user sign in, and then shows that the user has a password', async () => {
    const email = 'invited@example.com'
    const id = idOf(await admin.post('/v1/users', { userName: 'Invited', email, roles: ['Viewer'] }))
    assert.equal((await use(tokenOf((await make(id)).body.link))).status, 204)
    const signedIn = await service.client().post('/v1/auth/session', { email, password: newPassword })
    assert.equal(signedIn.status, 200)
    const { body, headers } = await admin.get(`/v1/users/${id}`)
    assert.deepEqual([body.hasPassword, headers.get('etag')], [true, '"2"'])
    const kinds = (await accountEvents(service, id)).map(({ kind, byId }) => [kind, byId])
    assert.deepEqual(kinds, [
      ['user-added', 1],
      ['link-made', 1],
      ['link-used', id],
    ])
  })

  it('voids the previous link', async () => {
    const { id } = await newUser(service)
    const [first, second] = [await make(id), await make(id)]
    assertProblem(await use(tokenOf(first.body.link)), 404, 'link-not-found')
    assert.equal((await use(tokenOf(second.body.link))).status, 204)
  })

  it('is refused for a disabled and for an unknown user', async () => {
    const { id } = await newUser(service)
    await admin.patch(`/v1/users/${id}`, { enabled: false })
    assertProblem(await make(id), 409, 'account-disabled')
    for (const unknown of [5, 999_999, 'x']) assertProblem(await make(unknown), 404, 'user-not-found')
  })

  it('makes a link that stops working once its user is disabled', async () => {
    const { id } = await newUser(service)
    const { body } = await make(id)
    await admin.patch(`/v1/users/${id}`, { enabled: false })
    await admin.patch(`/v1/users/${id}`, { enabled: true })
    assertProblem(await use(tokenOf(body.link)), 404, 'link-not-found')
  })

  describe('makes a link that ends with', () => {
    const stamp = () => machineStamp(service.now())
    const made = async () => {
      const maker = await newUser(service, { roles: ['Admin'] })
      const caller = await signIn(service, maker)
      const { id } = await newUser(service)
      const answer = await caller.post(`/v1/users/${id}/links`)
      assert.equal(answer.status, 201)
      return { maker, caller, token: tokenOf(answer.body.link) }
    }
    type Made = Awaited<ReturnType<typeof made>>
    const ends: Record<string, (made: Made) => Promise<unknown>> = {
      'the sign-in in which it was made': async ({ maker, caller }) => {
        const { items } = (await caller.get('/v1/auth/sessions')).body
        await service.db.write('endSignIn', { principalId: maker.id, id: items[0].id, stamp: stamp() })
      },
      'all other sign-ins of its maker': async ({ maker }) =>
        (await bearerOf(service, maker)).send('DELETE', '/v1/auth/sessions'),
      'a sign-out of its maker': ({ maker: { account } }) =>
        service.db.write('signOutUser', { account, stamp: stamp() }),
      'a new password of its maker': ({ maker }) => setPassword(service, maker),
      'the account of its maker': ({ maker }) => setEnabled(service, maker, false),
      'the role of its maker, for good': async ({ maker }) => {
        await revokeRoles(service, maker, ['Admin'])
        await grantRoles(service, maker, ['Admin'])
      },
      'the permission of that role, for good': async ({ maker }) => {
        const role = 'Keeper'
        await addRole(service, role, ['Accounts.Manage'])
        await grantRoles(service, maker, [role])
        await revokeRoles(service, maker, ['Admin'])
        const permissions = (held: Permission[]) =>
          service.db.write('setRolePermissions', {
            role,
            permissions: held,
            acceptedVersions: null,
            stamp: stamp(),
          })
        await permissions([])
        await permissions(['Accounts.Manage'])
      },
    }
    for (const [name, end] of Object.entries(ends)) {
      it(name, async () => {
        const link = await made()
        await end(link)
        assertProblem(await use(link.token), 404, 'link-not-found')
      })
    }

    it('nothing else: not if its maker signs out, or in again', async () => {
      const { maker, caller, token } = await made()
      await caller.post('/v1/auth/session/logout')
      await signIn(service, maker)
      assert.equal((await use(token)).status, 204)
    })
  })
})
