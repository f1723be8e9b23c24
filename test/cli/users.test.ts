import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, it } from 'node:test'
import { verify } from '@node-rs/argon2'
import { sha256 } from '../../server/ids.ts'
import { type CommandLine, commandLine, goodPassword, refusal, runCommand } from './command-line.ts'

const passwordHashOf = (cli: CommandLine, email: string) =>
  String(cli.value('select password_hash from users where email = ?', email))

describe('user add', () => {
  it('adds a user whom the list shows, with the password from standard input without its last newline', async (t) => {
    const cli = commandLine(t)
    const added = await cli.run('user add Jo.Doe+x@Example.com --role operator,Viewer', `${goodPassword}\n`)
    assert.deepEqual(added, {
      status: 0,
      stdout: 'Added user jo.doe-x (jo.doe+x@example.com), id 1, roles Operator, Viewer.\n',
      stderr: '',
    })
    const [user] = await cli.json<Record<string, unknown>[]>('user list')
    assert.partialDeepStrictEqual(user, {
      id: 1,
      userName: 'jo.doe-x',
      email: 'jo.doe+x@example.com',
      roles: ['Operator', 'Viewer'],
      timeZone: null,
      enabled: true,
      demo: false,
    })
    const hash = passwordHashOf(cli, 'jo.doe+x@example.com')
    assert.match(hash, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
    assert.equal(await verify(hash, goodPassword), true)
  })

  it('accepts everything as options, and keeps spaces around a password', async (t) => {
    const cli = commandLine(t)
    const added = await cli.json(
      'user add --email al@example.com --user-name Al --name Al --role Admin --role Viewer --time-zone europe/berlin',
      ` ${goodPassword} \r\n`,
    )
    assert.deepEqual(added, {
      id: 1,
      userName: 'Al',
      name: 'Al',
      email: 'al@example.com',
      roles: ['Admin', 'Viewer'],
      timeZone: 'Europe/Berlin',
      enabled: true,
    })
    const hash = passwordHashOf(cli, 'al@example.com')
    assert.equal(await verify(hash, ` ${goodPassword} `), true)
  })

  it('refuses taken names and emails, ignoring case', async (t) => {
    const cli = commandLine(t)
    await cli.run('user add jo@example.com --role Viewer', goodPassword)
    await cli.run('client add billing --role Viewer')
    for (const [args, line] of [
      ['user add JO --email other@example.com', 'the name is taken'],
      ['user add Billing --email other@example.com', 'the name is taken'],
      ['user add JO@EXAMPLE.com --user-name other', 'another user has this email'],
      ['client add Jo', 'the name is taken'],
    ] as const) {
      assert.deepEqual(await cli.run(`${args} --role Viewer`, goodPassword), refusal(line))
    }
  })

  it('gives a name to exactly one of two simultaneous commands', async (t) => {
    const cli = commandLine(t)
    await cli.run('migrate')
    const env = { DATABASE_URL: `file:${cli.databaseFile}` }
    const results = await Promise.all(
      [1, 2].map((n) =>
        runCommand(`user add jo --email jo${n}@example.com --role Viewer`, goodPassword, '/', env),
      ),
    )
    assert.deepEqual(results.map((result) => result.status).sort(), [0, 1])
    assert.equal((await cli.json<unknown[]>('user list')).length, 1)
  })

  it('adds a user without a password with --invite, and reads none', async (t) => {
    const cli = commandLine(t)
    await cli.run('user add jo@example.com --role Operator --invite')
    assert.partialDeepStrictEqual(await cli.json('user list'), [{ userName: 'jo', hasPassword: false }])
    assert.match((await cli.run('user list')).stdout, /enabled, no password$/m)
  })

  it('refuses values that break a rule, naming it', async (t) => {
    const cli = commandLine(t)
    const userName =
      'the user name (--user-name) must begin with a letter (A to Z) and have at most 64 of A to Z, digits and . _ -'
    const email = 'the email must have one @ between non-empty sides, no spaces and none of ()<>[]:;,"\\'
    const zone = '--time-zone must be an IANA name such as Europe/Berlin'
    const cases: [string, string][] = [
      ['user add 7@example.com', userName],
      ['user add 1jo --email jo@example.com', userName],
      [`user add jo@example.com --user-name ${'a'.repeat(65)}`, userName],
      ['user add jo@@example.com', email],
      ['user add @example.com', email],
      ['user add jo@x.example>', email],
      [`user add ${'a'.repeat(243)}@example.com`, 'the email must have 3 to 254 characters'],
      ['user add jo@example.com --time-zone +01:00', zone],
      ['user add jo@example.com --time-zone Mars/Olympus', zone],
      [
        'user add jo@example.com --role Boss,Viewer',
        'there is no role Boss; the roles are Admin, Operator, Viewer',
      ],
    ]
    for (const [args, line] of cases) assert.deepEqual(await cli.run(args, goodPassword), refusal(line))
  })

  it('refuses a missing or poor password without repeating it', async (t) => {
    const cli = commandLine(t)
    const none = 'no password was given: without a terminal it is read from standard input'
    const common = 'the password is common, or little more than common words, names, dates and sequences'
    for (const [input, line] of [
      ['', none],
      ['\n', none],
      ['hunter2hunter2', 'the password has fewer than 15 characters'],
      ['example.com example', common],
      [`${goodPassword}\n${goodPassword}\n`, 'the password contains a control character or a line break'],
      [Buffer.from(`${goodPassword} é`, 'latin1'), 'the password is not UTF-8'],
      ['x'.repeat(4_097), 'the password is too long'],
    ] as const) {
      assert.deepEqual(await cli.run('user add jo@example.com --role Viewer', input), refusal(line))
    }
    assert.deepEqual(await cli.json('user list'), [])
  })
})

const environmentOf = ({ databaseFile }: CommandLine) => ({
  DATABASE_URL: `file:${databaseFile}`,
  PUBLIC_URL: 'https://orders.example.com',
})

describe('user link', () => {
  it('prints an address with a secret after #, stores only its hash, and voids the previous link', async (t) => {
    const cli = commandLine(t)
    await cli.run('user add jo@example.com --role Viewer', goodPassword)
    const env = environmentOf(cli)
    const printed = await cli.run('user link jo', '', env)
    assert.match(
      printed.stderr,
      /^jo sets a password with it, once, until \S+Z\. Earlier links no longer work\.\n$/,
    )
    const stored = () => cli.column('select token_hash from one_time_links')
    const { origin, pathname, hash } = new URL(printed.stdout.trim())
    assert.deepEqual([origin, pathname], ['https://orders.example.com', '/link'])
    const { token = '', email } = Object.fromEntries(new URLSearchParams(hash.slice(1)))
    assert.equal(email, 'jo@example.com')
    assert.match(token, /^[A-Za-z0-9_-]{43}$/)
    assert.deepEqual(stored(), [sha256(token)])
    const { status, stdout } = await cli.run('user link jo@example.com --json', '', env)
    assert.equal(status, 0)
    const second = JSON.parse(stdout)
    assert.deepEqual(Object.keys(second), ['userName', 'link', 'expiresAtUtc'])
    assert.equal(stored().length, 1)
    assert.notDeepEqual(stored(), [sha256(token)])
    assert.ok(cli.log.length > 0 && !JSON.stringify(cli.log).includes(token))
  })

  it('needs the public address and an enabled account', async (t) => {
    const cli = commandLine(t)
    await cli.run('user add jo@example.com --role Viewer', goodPassword)
    const env = environmentOf(cli)
    const without = await cli.run('user link jo')
    assert.equal(without.status, 1)
    assert.match(without.stderr, /PUBLIC_URL: required in production/)
    assert.deepEqual(await cli.run('user link al', '', env), refusal('there is no user al'))
    await cli.run('user disable jo')
    const disabled = refusal('the account is disabled')
    assert.deepEqual(await cli.run('user link jo', '', env), disabled)
  })
})

describe('user set-password, disable, enable, grant and revoke', () => {
  it('change the user named by email or user name, ignoring case', async (t) => {
    const cli = commandLine(t)
    await cli.run('user add jo@example.com --role Viewer', goodPassword)
    const other = 'zebra umbrella 44 kites'
    assert.deepEqual(await cli.json('user set-password JO@example.com', other), { userName: 'jo' })
    const hash = passwordHashOf(cli, 'jo@example.com')
    assert.equal(await verify(hash, other), true)
    const userName = 'jo'
    const disabled = { userName, enabled: false, changed: true }
    assert.deepEqual(await cli.json('user disable --user-name JO'), disabled)
    assert.deepEqual(await cli.json('user disable jo'), { ...disabled, changed: false })
    const list = (await cli.run('user list')).stdout
    assert.match(list, /^1 {3}jo {9}jo@example\.com {2}Viewer {2}- {10}- {13}disabled$/m)
    const enabled = { userName, enabled: true, changed: true }
    assert.deepEqual(await cli.json('user enable --email jo@example.com'), enabled)
    assert.deepEqual(await cli.json('user grant jo admin --role Operator,Viewer'), {
      userName,
      changed: ['Admin', 'Operator'],
      roles: ['Admin', 'Operator', 'Viewer'],
    })
    const last = refusal('someone must be able to manage accounts')
    assert.deepEqual(await cli.run('user revoke jo Admin'), last)
    assert.deepEqual(await cli.run('role deny Admin Accounts.Manage'), last)
    await cli.run('user add boss@example.com --role Admin', goodPassword)
    assert.deepEqual(await cli.json('user revoke --email jo@example.com Admin Viewer'), {
      userName: 'jo',
      changed: ['Admin', 'Viewer'],
      roles: ['Operator'],
    })
    const stdout = 'Nothing to change: jo has Operator.\n'
    assert.deepEqual(await cli.run('user revoke jo Admin'), { status: 0, stdout, stderr: '' })
  })

  it('refuse unknown users, and clients, before reading a password', async (t) => {
    const cli = commandLine(t)
    await cli.run('client add billing --role Viewer')
    for (const [command, user] of [
      ['set-password nobody@example.com', 'nobody@example.com'],
      ['set-password billing', 'billing'],
      ['disable nobody', 'nobody'],
      ['enable nobody', 'nobody'],
      ['grant nobody Viewer', 'nobody'],
      ['revoke billing Viewer', 'billing'],
      ['sign-out billing', 'billing'],
    ] as const) {
      assert.deepEqual(await cli.run(`user ${command}`), refusal(`there is no user ${user}`))
    }
    const error = { code: 'user-not-found', message: 'there is no user nobody' }
    const stderr = `${JSON.stringify({ error })}\n`
    assert.deepEqual(await cli.run('user disable nobody --json'), { status: 1, stdout: '', stderr })
  })
})

it('user sign-out ends the credentials of one user, or of all users with --all', async (t) => {
  const cli = commandLine(t)
  await cli.run('user add jo@example.com --role Viewer', goodPassword)
  await cli.run('user add al@example.com --role Viewer', goodPassword)
  await cli.run('client add billing --role Viewer')
  const insert = "insert into sessions values (?, ?, null, 0, '[]', ?, 0, 0, 9999999999999, null, 1)"
  for (const id of [1, 2, 3]) cli.change(insert, `session-${id}`, id, `binding-${id}`)
  const live = `select count(*) from sessions join principals using (credentials_epoch)
    where principals.id = principal_id and principal_id = ?`
  const sessions = () => [1, 2, 3].map((id) => cli.value(live, id))
  assert.deepEqual(await cli.json('user sign-out JO@example.com'), { userName: 'jo' })
  assert.deepEqual(sessions(), [0, 1, 1])
  const stdout = '2 users are signed out everywhere.\n'
  assert.deepEqual(await cli.run('user sign-out --all'), { status: 0, stdout, stderr: '' })
  assert.deepEqual(sessions(), [0, 0, 1])
  assert.deepEqual(await cli.json('user sign-out --all'), { users: 2 })
})

describe('user list', () => {
  it('prints any number of users in batches, as a table or as one JSON value, all or some', async (t) => {
    const cli = commandLine(t)
    await cli.run('migrate')
    cli.exec(`
        with recursive numbers (value) as (select 1 union all select value + 1 from numbers where value < 130000)
        insert into principals (kind, name, name_folded, enabled, credentials_changed_at, credentials_epoch,
          demo, created_at)
          select 'user', 'User' || value, 'user' || value, 1, 0, 0, 0, 0 from numbers;
        insert into users (principal_id, email, password_origin)
          select id, name_folded || '@example.com', 'own' from principals`)
    const lines = (await cli.run('user list')).stdout.split('\n')
    assert.match(lines[0] ?? '', /^ID +USER NAME +EMAIL +ROLES +TIME ZONE +LAST SIGN-IN +STATE$/)
    const names = lines.slice(1, -1).map((line) => line.split(/ +/)[1])
    assert.equal(names.length, 130_000)
    assert.deepEqual(
      [names[0], names[999], names[1_000], names.at(-1)],
      ['User1', 'User1000', 'User1001', 'User130000'],
    )
    const found = await cli.json<{ userName: string }[]>('user list --filter USER12345')
    assert.deepEqual(
      found.map(({ userName }) => userName),
      ['User12345', ...Array.from({ length: 10 }, (_, digit) => `User12345${digit}`)],
    )
    assert.equal((await cli.json<unknown[]>('user list --filter user129')).length, 1_111)
    assert.deepEqual(await cli.json('user list --filter nobody'), [])
    assert.deepEqual(await statusOfUnread('user list', cli), { status: 0, stderr: '' })
  })
})

/** Like `| head`: reads only the first part of the output. */
async function statusOfUnread(args: string, { folder, databaseFile }: CommandLine) {
  const main = new URL('../../server/main.ts', import.meta.url).pathname
  const env = { ...process.env, DATABASE_URL: `file:${databaseFile}` }
  const child = spawn(process.execPath, [main, ...args.split(' ')], { cwd: folder, env })
  let stderr = ''
  child.stderr.on('data', (text) => {
    stderr += text
  })
  child.stdout.once('data', () => child.stdout.destroy())
  const [status] = await once(child, 'close')
  return { status, stderr }
}
