import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { Permission } from '../../server/caller/permissions.ts'
import { machineStamp } from '../../server/caller/stamp.ts'
import { newSecret, sha256 } from '../../server/ids.ts'
import { hashOf } from '../support/cheap-hash.ts'
import { mergeTally, removeExpired } from '../support/upkeep.ts'
import { type Command, command, weighted } from './command.ts'
import { type Account, forgetExpired, type Model, required } from './model.ts'
import { clientOf } from './token-commands.ts'
import type { World } from './world.ts'

/**
 * More than five changes of an account within a second would give its tokens a later date than instances
 * accept.
 */
const betweenChangesMilliseconds = 1_000

const roleNames = ['Admin', 'Operator', 'Viewer']
const anyAccount = fc.nat(3)

function accountOf(model: Model, index: number) {
  const account = required(model.accounts[index])
  const { kind, name } = account
  return { account, reference: kind === 'user' ? { kind, name } : { kind, name } }
}

const anyChange = fc.record({ who: anyAccount, role: fc.constantFrom(...roleNames) })

const grant = command('grantRoles', anyChange, async (model, world, { who, role }) => {
  const { account, reference } = accountOf(model, who)
  const input = { account: reference, roles: [role], stamp: machineStamp(world.now) }
  const changed = await world.service.db.write('grantRoles', input)
  const isNew = !account.roles.includes(role)
  if (isNew) account.roles = [...account.roles, role].sort()
  assert.deepEqual(changed, { name: account.name, changed: isNew ? [role] : [], roles: account.roles })
})

const revoke = command('revokeRoles', anyChange, async (model, world, { who, role }) => {
  world.service.advance(betweenChangesMilliseconds)
  const { account, reference } = accountOf(model, who)
  const input = { account: reference, roles: [role], stamp: machineStamp(world.now) }
  const changed = await world.service.db.write('revokeRoles', input)
  const isHeld = account.roles.includes(role)
  if (isHeld) model.removeRole(account, role, world.now)
  assert.deepEqual(changed, { name: account.name, changed: isHeld ? [role] : [], roles: account.roles })
})

const anySwitch = fc.record({ who: anyAccount, enabled: fc.constantFrom(true, true, false) })

const enable = command('setAccountEnabled', anySwitch, async (model, world, { who, enabled }) => {
  world.service.advance(betweenChangesMilliseconds)
  const { account, reference } = accountOf(model, who)
  const input = { account: reference, enabled, stamp: machineStamp(world.now) }
  const result = await world.service.db.write('setAccountEnabled', input)
  const isChanged = account.enabled !== enabled
  account.enabled = enabled
  assert.deepEqual(result, { name: account.name, changed: isChanged })
  if (isChanged && !enabled) model.endCredentials(account, world.now)
})

const anyPassword = fc.record({ who: fc.nat(2), password: fc.constantFrom('second', 'third', 'fourth') })

const setPassword = command('setPassword', anyPassword, async (model, world, { who, password }) => {
  world.service.advance(betweenChangesMilliseconds)
  const { account } = accountOf(model, who)
  const reference = { kind: 'user', name: account.name } as const
  const passwordHash = await hashOf(password)
  await world.service.db.write('setPassword', {
    account: reference,
    passwordHash,
    stamp: machineStamp(world.now),
  })
  account.password = password
  model.endCredentials(account, world.now)
})

const rotate = command(
  'rotateClientSecret',
  fc.record({ dropOld: fc.boolean() }),
  async (model, world, { dropOld }) => {
    world.service.advance(betweenChangesMilliseconds)
    const client = clientOf(model)
    const secret = newSecret()
    const input = {
      account: { kind: 'client', name: client.name } as const,
      secretHash: sha256(secret),
      dropOld,
      stamp: machineStamp(world.now),
    }
    const result = await world.service.db.write('rotateClientSecret', input)
    client.secrets.push(secret)
    assert.deepEqual(result, {
      name: client.name,
      dropped: dropSecrets(model, client, dropOld ? 1 : 2, world),
    })
  },
)

const endRotation = command('dropOldClientSecrets', fc.constant({}), async (model, world) => {
  world.service.advance(betweenChangesMilliseconds)
  const client = clientOf(model)
  const input = { account: { kind: 'client', name: client.name } as const, stamp: machineStamp(world.now) }
  const result = await world.service.db.write('dropOldClientSecrets', input)
  assert.deepEqual(result, { name: client.name, dropped: dropSecrets(model, client, 1, world) })
})

function dropSecrets(model: Model, client: Account, kept: number, { now }: World): number {
  const dropped = client.secrets.slice(0, -kept)
  model.droppedSecrets.push(...dropped)
  client.secrets = client.secrets.slice(-kept)
  if (dropped.length > 0) model.endCredentials(client, now)
  return dropped.length
}

const anyPermission = fc.record({
  role: fc.constantFrom('Operator', 'Viewer'),
  permission: fc.constantFrom<Permission>('Orders.Create', 'Orders.Read', 'Orders.Approve', 'Orders.Note'),
  isAllowed: fc.boolean(),
})

const permit = command('allowPermissions or denyPermissions', anyPermission, async (model, world, input) => {
  const { role, permission, isAllowed } = input
  const change = { role, permissions: [permission], stamp: machineStamp(world.now) }
  const result = await world.service.db.write(isAllowed ? 'allowPermissions' : 'denyPermissions', change)
  const held = model.roleTable[role] ?? []
  const isChanged = held.includes(permission) !== isAllowed
  assert.deepEqual(result, { changed: isChanged ? [permission] : [] })
  const others = held.filter((one) => one !== permission)
  model.changeRoleTable(
    { ...model.roleTable, [role]: isAllowed ? [...others, permission] : others },
    world.now,
  )
})

const minute = 60_000
const day = 86_400_000
const times = [29_999, 30_000, minute, minute, 5 * minute, 15 * minute, 25 * minute, 30 * minute, 61 * minute]

const wait = command(
  'wait',
  fc.record({ milliseconds: fc.constantFrom(...times, ...times, day) }),
  async (_model, world, { milliseconds }) => world.service.advance(milliseconds),
)

/** Work that the service does by itself now and then. It must make no difference. */
const cleanUp = command('removeExpired', fc.constant({}), async (model, world) => {
  await removeExpired(world.service, 1_000)
  if (world.service.db.defersTally) await mergeTally(world.service.db, 3)
  forgetExpired(model, world.now)
})

export const adminCommands: fc.Arbitrary<Command>[] = weighted(
  [3, grant],
  [1, revoke],
  [1, enable],
  [1, setPassword],
  [1, rotate],
  [1, endRotation],
  [1, permit],
  [1, cleanUp],
  [2, wait],
)
