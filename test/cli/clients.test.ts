import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { sha256 } from '../../server/ids.ts'
import { type CommandLine, commandLine, refusal } from './command-line.ts'

interface Secret {
  clientId: string
  clientSecret: string
}

function storedHashes(cli: CommandLine): unknown[] {
  return cli.column('select secret_hash from client_secrets order by id')
}

describe('client add', () => {
  it('prints the id and a secret of 256 bits once, and stores only its hash', async (t) => {
    const cli = commandLine(t)
    const added = await cli.run('client add billing --role Operator')
    assert.equal(added.status, 0)
    assert.match(added.stdout, /^clientId: {5}billing\nclientSecret: [A-Za-z0-9_-]{43}\n$/)
    assert.equal(added.stderr, 'The secret is not shown again.\n')
    const { clientId, clientSecret } = await cli.json<Secret>('client add reports --role Viewer')
    assert.equal(clientId, 'reports')
    assert.equal(storedHashes(cli)[1], sha256(clientSecret))
    const list = await cli.run('client list')
    assert.equal(
      list.stdout,
      'ID  CLIENT ID  ROLES     SECRETS  OWNER  STATE\n' +
        '1   billing    Operator  1        -      enabled\n' +
        '2   reports    Viewer    1        -      enabled\n',
    )
    const stored = readdirSync(cli.folder).map((file) => readFileSync(join(cli.folder, file), 'latin1'))
    assert.equal(stored.join('').includes(clientSecret), false)
  })

  it('stores --display-name and --ends-at, and refuses what the API refuses', async (t) => {
    const cli = commandLine(t)
    await cli.run('client add billing --role Operator --display-name Nightly --ends-at 2999-12-31T00:00:00Z')
    const rule =
      'the client id must begin with a letter (A to Z) and have at most 64 of A to Z, digits and . _ -'
    for (const [args, line] of [
      ['42 --role Viewer', rule],
      [`${'a'.repeat(65)} --role Viewer`, rule],
      ['a@b --role Viewer', rule],
      ['other --role Nobody', 'there is no role Nobody; the roles are Admin, Operator, Viewer'],
      ['other --ends-at tomorrow', '--ends-at must be an instant in UTC such as 2026-11-20T10:00:00Z'],
    ] as const) {
      assert.deepEqual(await cli.run(`client add ${args}`), refusal(line))
    }
    const endsAtUtc = '2999-12-31T00:00:00.000Z'
    const clients = await cli.json<unknown[]>('client list')
    assert.partialDeepStrictEqual(clients, [
      { clientId: 'billing', displayName: 'Nightly', endsAtUtc, lastUsedAtUtc: null },
    ])
    assert.equal(clients.length, 1)
  })
})

describe('client rotate-secret and drop-old-secret', () => {
  it('keep the two newest secrets; with --now or after drop-old-secret only the newest', async (t) => {
    const cli = commandLine(t)
    const rotate = async (args: string) => sha256((await cli.json<Secret>(args)).clientSecret)
    const first = await rotate('client add billing --role Operator')
    const second = await rotate('client rotate-secret BILLING')
    assert.deepEqual(storedHashes(cli), [first, second])
    assert.match((await cli.run('client list')).stdout, /^1 {3}billing {4}Operator {2}2 {8}- {6}enabled$/m)
    const third = await rotate('client rotate-secret billing')
    assert.deepEqual(storedHashes(cli), [second, third])
    assert.deepEqual(await cli.json('client drop-old-secret billing'), { clientId: 'billing', dropped: 1 })
    assert.deepEqual(storedHashes(cli), [third])
    assert.deepEqual(await cli.json('client drop-old-secret billing'), { clientId: 'billing', dropped: 0 })
    const fourth = await rotate('client rotate-secret billing --now')
    assert.deepEqual(storedHashes(cli), [fourth])
  })
})

describe('client set-owner', () => {
  it('names a user by email or user name, and takes the owner away', async (t) => {
    const cli = commandLine(t)
    await cli.run('user add Ann@example.com --invite')
    await cli.run('user add bo@example.com --invite')
    await cli.run('client add billing --owner ANN@example.com')
    const owners = async () => {
      const clients = await cli.json<{ owner: string | null; ownerId: number | null }[]>('client list')
      return clients.map(({ owner, ownerId }) => [owner, ownerId])
    }
    assert.deepEqual(await owners(), [['ann', 1]])
    const change = await cli.json('client set-owner Billing bo')
    assert.deepEqual(change, { clientId: 'billing', ownerId: 2, owner: 'bo' })
    assert.deepEqual(await owners(), [['bo', 2]])
    assert.match((await cli.run('client list')).stdout, /^3 {3}billing {4}- {6}1 {8}bo {5}enabled$/m)
    const none = await cli.run('client set-owner billing --none')
    assert.equal(none.stdout, 'billing is owned by nobody.\n')
    assert.deepEqual(await owners(), [[null, null]])
  })

  it('refuses an unknown user or client, a disabled user, and anything but one owner or --none', async (t) => {
    const cli = commandLine(t)
    await cli.run('user add ann@example.com --invite')
    await cli.run('user disable ann')
    await cli.run('client add billing')
    for (const [args, line] of [
      ['set-owner nobody ann', 'there is no client nobody'],
      ['set-owner billing nobody', 'there is no user nobody'],
      ['set-owner billing billing', 'there is no user billing'],
      ['set-owner billing ann', 'this account cannot own a service'],
      ['add other --owner ann@example.com', 'this account cannot own a service'],
    ] as const) {
      assert.deepEqual(await cli.run(`client ${args}`), refusal(line))
    }
    for (const args of ['billing', 'billing ann --none', '']) {
      assert.equal((await cli.run(`client set-owner ${args}`)).status, 2)
    }
    assert.partialDeepStrictEqual(await cli.json('client list'), [{ clientId: 'billing', owner: null }])
  })
})

it('client disable, enable, grant and revoke change the client, and refuse an unknown one', async (t) => {
  const cli = commandLine(t)
  await cli.run('client add billing --role Operator')
  const clientId = 'billing'
  for (const [command, value] of [
    ['disable billing', { clientId, enabled: false, changed: true }],
    ['enable billing', { clientId, enabled: true, changed: true }],
    ['grant billing Viewer', { clientId, changed: ['Viewer'], roles: ['Operator', 'Viewer'] }],
    ['revoke billing operator', { clientId, changed: ['Operator'], roles: ['Viewer'] }],
  ] as const) {
    assert.deepEqual(await cli.json(`client ${command}`), value)
  }
  for (const command of [
    'rotate-secret nobody',
    'drop-old-secret nobody',
    'disable nobody',
    'grant nobody Viewer',
  ]) {
    assert.deepEqual(await cli.run(`client ${command}`), refusal('there is no client nobody'))
  }
})

describe('role list, allow and deny', () => {
  it('show and change the permissions of roles', async (t) => {
    const cli = commandLine(t)
    await cli.run('migrate')
    assert.deepEqual(await cli.run('role list'), {
      status: 0,
      stdout:
        'ROLE      PERMISSIONS\n' +
        'Admin     Accounts.Manage, Log.Read, Orders.Approve, Orders.Create, Orders.Note, Orders.Read, Policy.Manage, Webhooks.Manage\n' +
        'Operator  Orders.Create, Orders.Note, Orders.Read\n' +
        'Viewer    Orders.Read\n',
      stderr: '',
    })
    assert.deepEqual(await cli.json('role allow operator orders.approve Orders.Read'), {
      role: 'Operator',
      changed: ['Orders.Approve'],
      permissions: ['Orders.Approve', 'Orders.Create', 'Orders.Note', 'Orders.Read'],
    })
    assert.deepEqual(await cli.json('role deny Operator Orders.Read,Orders.Create'), {
      role: 'Operator',
      changed: ['Orders.Create', 'Orders.Read'],
      permissions: ['Orders.Approve', 'Orders.Note'],
    })
    const stdout = 'Nothing to change: Operator has Orders.Approve, Orders.Note.\n'
    assert.deepEqual(await cli.run('role deny Operator Orders.Read'), { status: 0, stdout, stderr: '' })
  })

  it('refuse unknown roles and permissions', async (t) => {
    const cli = commandLine(t)
    const noRole = 'there is no role Boss; the roles are Admin, Operator, Viewer'
    assert.deepEqual(await cli.run('role allow Boss Orders.Read'), refusal(noRole))
    const noPermission =
      'there is no permission Orders.Delete; the permissions are ' +
      'Orders.Create, Orders.Read, Orders.Approve, Orders.Note, Log.Read, Policy.Manage, Accounts.Manage, Webhooks.Manage'
    assert.deepEqual(await cli.run('role deny Viewer Orders.Delete'), refusal(noPermission))
  })

  it('add and remove roles, but keep one that an account has', async (t) => {
    const cli = commandLine(t)
    const added = { role: 'Auditor', permissions: ['Orders.Read'] }
    assert.deepEqual(await cli.json('role add Auditor Orders.Read'), added)
    assert.deepEqual(await cli.run('role add auditor'), refusal('the name is taken'))
    const rule = 'the role must begin with a letter (A to Z) and have at most 64 of A to Z, digits and . _ -'
    assert.deepEqual(await cli.run('role add 7'), refusal(rule))
    await cli.run('client add billing --role Auditor')
    assert.deepEqual(await cli.run('role remove auditor'), refusal('the role is in use'))
    await cli.run('client revoke billing Auditor')
    assert.deepEqual(await cli.json('role remove auditor'), { role: 'Auditor' })
    const gone = 'there is no role auditor; the roles are Admin, Operator, Viewer'
    assert.deepEqual(await cli.run('role remove auditor'), refusal(gone))
  })
})
