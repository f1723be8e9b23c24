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
  return cli.sql((database) =>
    database.prepare('select secret_hash from client_secrets order by id').pluck().all(),
  )
}

describe('client add', { concurrency: 4 }, () => {
  it('prints the id and a secret of 256 bits once, and stores its hash only', async (t) => {
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
      'ID  CLIENT ID  ROLES     SECRETS  STATE\n' +
        '1   billing    Operator  1        enabled\n' +
        '2   reports    Viewer    1        enabled\n',
    )
    const stored = readdirSync(cli.folder).map((file) => readFileSync(join(cli.folder, file), 'latin1'))
    assert.equal(stored.join('').includes(clientSecret), false)
  })

  it('refuses ids that break the rule and roles that do not exist', async (t) => {
    const cli = commandLine(t)
    const rule = refusal('a client id begins with a letter and has at most 64 letters, digits and . _ -')
    assert.deepEqual(
      await Promise.all([
        cli.run('client add 42 --role Viewer'),
        cli.run(`client add ${'a'.repeat(65)} --role Viewer`),
        cli.run('client add a@b --role Viewer'),
        cli.run('client add billing --role Nobody'),
      ]),
      [rule, rule, rule, refusal('there is no role Nobody; the roles are Admin, Operator, Viewer')],
    )
    assert.deepEqual(await cli.json('client list'), [])
  })
})

describe('client add with --name and --ends-at', () => {
  it('keeps both, and judges them as the API does', async (t) => {
    const cli = commandLine(t)
    await cli.run('client add billing --role Operator --name Nightly --ends-at 2999-12-31T00:00:00Z')
    assert.partialDeepStrictEqual(await cli.json('client list'), [
      { clientId: 'billing', name: 'Nightly', endsAt: '2999-12-31T00:00:00.000Z', lastUsedAt: null },
    ])
    const refused = '--ends-at must be an instant in UTC such as 2026-11-20T10:00:00Z.'
    assert.deepEqual(await cli.run('client add other --ends-at tomorrow'), refusal(refused))
  })
})

describe('client rotate-secret and drop-old-secret', () => {
  it('keep the two newest secrets, only the newest with --now or after drop-old-secret', async (t) => {
    const cli = commandLine(t)
    const rotate = async (args: string) => sha256((await cli.json<Secret>(args)).clientSecret)
    const first = await rotate('client add billing --role Operator')
    const second = await rotate('client rotate-secret BILLING')
    assert.deepEqual(storedHashes(cli), [first, second])
    assert.match((await cli.run('client list')).stdout, /^1 {3}billing {4}Operator {2}2 {8}enabled$/m)
    const third = await rotate('client rotate-secret billing')
    assert.deepEqual(storedHashes(cli), [second, third])
    assert.deepEqual(await cli.json('client drop-old-secret billing'), { clientId: 'billing', dropped: 1 })
    assert.deepEqual(storedHashes(cli), [third])
    assert.deepEqual(await cli.json('client drop-old-secret billing'), { clientId: 'billing', dropped: 0 })
    const fourth = await rotate('client rotate-secret billing --now')
    assert.deepEqual(storedHashes(cli), [fourth])
  })
})

describe('client disable, enable, grant and revoke', { concurrency: 4 }, () => {
  it('change the client', async (t) => {
    const cli = commandLine(t)
    await cli.run('client add billing --role Operator')
    assert.deepEqual(await cli.json('client disable billing'), {
      clientId: 'billing',
      enabled: false,
      changed: true,
    })
    assert.deepEqual(await cli.json('client enable billing'), {
      clientId: 'billing',
      enabled: true,
      changed: true,
    })
    assert.deepEqual(await cli.json('client grant billing Viewer'), {
      clientId: 'billing',
      changed: ['Viewer'],
      roles: ['Operator', 'Viewer'],
    })
    assert.deepEqual(await cli.json('client revoke billing operator'), {
      clientId: 'billing',
      changed: ['Operator'],
      roles: ['Viewer'],
    })
  })

  it('refuse clients that do not exist', async (t) => {
    const cli = commandLine(t)
    const commands = [
      'rotate-secret nobody',
      'drop-old-secret nobody',
      'disable nobody',
      'grant nobody Viewer',
    ]
    const results = await Promise.all(commands.map((command) => cli.run(`client ${command}`)))
    assert.deepEqual(
      results,
      commands.map(() => refusal('there is no client nobody')),
    )
  })
})

describe('role list, allow and deny', { concurrency: 4 }, () => {
  it('show and change what the roles hold', async (t) => {
    const cli = commandLine(t)
    assert.deepEqual(await cli.run('role list'), {
      status: 0,
      stdout:
        'ROLE      PERMISSIONS\n' +
        'Admin     Accounts.Manage, Log.Read, Orders.Approve, Orders.Create, Orders.Note, Orders.Read, Policy.Manage, Views.Share\n' +
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
    assert.deepEqual(await cli.run('role deny Operator Orders.Read'), {
      status: 0,
      stdout: 'Nothing to change: Operator has Orders.Approve, Orders.Note.\n',
      stderr: '',
    })
  })

  it('refuse roles and permissions that do not exist', async (t) => {
    const cli = commandLine(t)
    assert.deepEqual(
      await Promise.all([cli.run('role allow Boss Orders.Read'), cli.run('role deny Viewer Orders.Delete')]),
      [
        refusal('there is no role Boss; the roles are Admin, Operator, Viewer'),
        refusal(
          'there is no permission Orders.Delete; the permissions are ' +
            'Orders.Create, Orders.Read, Orders.Approve, Orders.Note, Log.Read, Policy.Manage, Views.Share, Accounts.Manage',
        ),
      ],
    )
  })

  it('are added and removed, but for one that an account has', async (t) => {
    const cli = commandLine(t)
    assert.deepEqual(await cli.json('role add Auditor Orders.Read'), {
      role: 'Auditor',
      permissions: ['Orders.Read'],
    })
    assert.deepEqual(await cli.run('role add auditor'), refusal('there is a role auditor already'))
    assert.deepEqual(
      await cli.run('role add 7'),
      refusal('a role begins with a letter and has at most 64 letters, digits and . _ -'),
    )
    await cli.run('client add billing --role Auditor')
    assert.deepEqual(
      await cli.run('role remove auditor'),
      refusal('the role Auditor cannot be removed: an account still has it (user revoke, client revoke)'),
    )
    await cli.run('client revoke billing Auditor')
    assert.deepEqual(await cli.json('role remove auditor'), { role: 'Auditor' })
    const { role } = (await cli.json<{ role: string }[]>('role list'))[0] ?? {}
    assert.deepEqual(
      [role, await cli.run('role remove auditor')],
      ['Admin', refusal('there is no role auditor; the roles are Admin, Operator, Viewer')],
    )
  })
})
