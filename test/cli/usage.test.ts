import assert from 'node:assert/strict'
import { type StdioOptions, spawnSync } from 'node:child_process'
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs'
import { after, describe, it } from 'node:test'
import { commands } from '../../server/cli/catalogue/catalogue.ts'
import { describeFailure } from '../../server/cli/failures.ts'
import {
  DatabaseRefused,
  DatabaseUnavailable,
  LockTimeout,
  QueryTooSlow,
  StatementTimeout,
  TooManyWaiting,
} from '../../server/db/errors.ts'
import { Problem } from '../../server/problems/problems.ts'
import { commandLine } from './command-line.ts'

describe('--help', () => {
  const cli = commandLine({ after })

  for (const name of commands.keys()) {
    it(`shows usage and an example of ${name} on standard output`, async () => {
      const { status, stdout, stderr } = await cli.run(`${name} --help`)
      assert.deepEqual({ status, stderr }, { status: 0, stderr: '' })
      assert.ok(stdout.startsWith(`Usage: node server/main.ts ${name} `))
      assert.match(stdout, /\nExamples?:\n {2}node server\/main\.ts /)
      assert.equal(existsSync(cli.databaseFile), false)
    })
  }

  it('lists all commands or those of a group, and treats a missing command as a mistake', async () => {
    const all = await cli.run('--help')
    assert.equal(all.status, 0)
    for (const name of commands.keys()) assert.ok(all.stdout.includes(`\n  ${name} `), name)
    assert.deepEqual([await cli.run('help'), await cli.run('-h')], [all, all])
    assert.deepEqual(await cli.run('help user add'), await cli.run('user add --help'))
    assert.deepEqual(await cli.run('help user'), await cli.run('user --help'))
    assert.equal((await cli.run('help nonsense')).status, 2)
    const group = await cli.run('user --help')
    assert.equal(group.status, 0)
    assert.match(group.stdout, /\n {2}user set-password +give a user a new password\n/)
    assert.doesNotMatch(group.stdout, /client add/)
    assert.deepEqual(await cli.run(''), { status: 2, stdout: '', stderr: all.stdout })
    assert.deepEqual(await cli.run('user'), { status: 2, stdout: '', stderr: group.stdout })
  })
})

it('a wrong command line is explained in one line, with exit status 2, without repeating a value', async (t) => {
  const cli = commandLine(t)
  const roleOption = "option '--role' argument is ambiguous"
  const cases: [args: string, message: string, help: string][] = [
    ['users', "no command 'users' (did you mean user?)", ''],
    ['user remove jo', "no command 'user remove' (did you mean user revoke?)", 'user '],
    ['user', 'user: a command is missing', 'user '],
    ['', 'the command must come first', ''],
    ['user list --frob=hunter2', "user list: unknown option '--frob'", 'user list '],
    [
      'user add jo@example.com --password hunter2',
      "user add: unknown option '--password': a password is read from a prompt or from standard input",
      'user add ',
    ],
    [
      'user set-password jo hunter2',
      'user set-password: too many arguments: 1 expected at most, 2 given (a password or secret is never an argument)',
      'user set-password ',
    ],
    ['user add', 'user add: the email is missing', 'user add '],
    ['user add jo', 'user add: the email is missing', 'user add '],
    ['user add a@b.c --email d@e.f', 'user add: the email is given twice', 'user add '],
    ['user add --email a@b.c --email d@e.f', "user add: option '--email' is given twice", 'user add '],
    ['user add a@b.c --role --time-zone UTC', `user add: ${roleOption}`, 'user add '],
    ['user disable', 'user disable: the user is missing: give an email or a user name', 'user disable '],
    [
      'user disable --email a@b.c --user-name jo',
      'user disable: --email and --user-name both name the user: give one',
      'user disable ',
    ],
    ['user sign-out', 'user sign-out: the user is missing: give an email or a user name', 'user sign-out '],
    ['user sign-out jo --all', 'user sign-out: --all means every user: name no user', 'user sign-out '],
    ['user grant jo', 'user grant: a role is missing', 'user grant '],
    ['client add', 'client add: the client id is missing', 'client add '],
    ['role allow Viewer', 'role allow: a permission is missing', 'role allow '],
    ['backup', 'backup: the file is missing', 'backup '],
    ['log verify --document=', "log verify: option '--document' is empty", 'log verify '],
    ['log verify --export=', "log verify: option '--export' is empty", 'log verify '],
    ['key generate --bits many', 'key generate: --bits takes a number, such as 3072', 'key generate '],
    [
      'key generate --log --bits 2048',
      'key generate: --bits is for RSA keys, not for --log',
      'key generate ',
    ],
    [
      'key generate --log --antiforgery',
      'key generate: --antiforgery and --log are different keys: give one',
      'key generate ',
    ],
    [
      'key generate --webhook --log',
      'key generate: --log and --webhook are different keys: give one',
      'key generate ',
    ],
    ['serve --no-demo-orders', 'serve: --no-demo-orders needs --dev', 'serve '],
  ]
  for (const [args, message, help] of cases) {
    const error = { code: 'usage', message: `${message} (see: node server/main.ts ${help}--help)` }
    const { status, stdout, stderr } = await cli.run(`--json ${args}`)
    assert.deepEqual(
      { status, stdout, stderr: JSON.parse(stderr) },
      { status: 2, stdout: '', stderr: { error } },
    )
  }
  assert.equal(existsSync(cli.databaseFile), false)
})

describe('a failure', () => {
  it('of the configuration keeps serve from starting, and names each setting', async (t) => {
    const { status, stdout, stderr } = await commandLine(t).run('serve', '', { PORT: 'x' })
    assert.deepEqual([status, stdout], [1, ''])
    const lines = stderr.split('\n').map((line) => line.slice(0, line.indexOf(':')))
    const keys = ['SIGNING_KEY_FILES', 'LOG_KEY_FILES', 'ANTIFORGERY_KEY or ANTIFORGERY_KEY_FILE']
    const settings = ['PORT', 'PUBLIC_URL', ...keys]
    assert.deepEqual(lines.slice(0, 6), [
      'Countersign cannot start',
      ...settings.map((name) => `  - ${name}`),
    ])
  })

  for (const [error, code, message] of [
    [new Problem('concurrency-conflict'), 'concurrency-conflict', 'another change came first'],
    [new DatabaseUnavailable('no answer'), 'database-unavailable', 'the database: no answer'],
    [new LockTimeout('a lock is held'), 'timed-out', 'a lock is held'],
    [new StatementTimeout('too long'), 'timed-out', 'too long'],
    [new TooManyWaiting('too many'), 'overloaded', 'too many'],
    [new QueryTooSlow('too slow'), 'timed-out', 'too slow'],
    [new DatabaseRefused('DATABASE_URL: is older'), 'database-refused', 'DATABASE_URL: is older'],
    ['a text', 'internal-error', 'a text'],
  ] as const) {
    it(`${code} is reported in one line: ${message}`, () => {
      assert.deepEqual(describeFailure(error), { code, message, exitStatus: 1 })
    })
  }
})

describe('a suggestion', () => {
  const mistyped: Record<string, string> = {
    'user lst': "no command 'user lst' (did you mean user list?) (see: node server/main.ts user --help)",
    'usr list': "no command 'usr' (did you mean user list?) (see: node server/main.ts --help)",
    servr: "no command 'servr' (did you mean serve?) (see: node server/main.ts --help)",
    frobnicate: "no command 'frobnicate' (see: node server/main.ts --help)",
    'user list --frob=hunter2':
      "user list: unknown option '--frob' (see: node server/main.ts user list --help)",
    'user add --rol X':
      "user add: unknown option '--rol' (did you mean --role?) (see: node server/main.ts user add --help)",
  }
  for (const [line, message] of Object.entries(mistyped)) {
    it(`is made for ${line}`, async (t) => {
      const stderr = `countersign: ${message}\n`
      assert.deepEqual(await commandLine(t).run(line), { status: 2, stdout: '', stderr })
    })
  }
})

describe('the program', () => {
  const root = new URL('../..', import.meta.url)
  const run = (...args: string[]) => spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' })

  it('prints its version', () => {
    const { version } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'))
    const { stdout } = run('server/countersign.cjs', '--version')
    assert.equal(stdout, `countersign ${version}, Node ${process.versions.node}\n`)
    assert.equal(run('server/main.ts', 'version').stdout, stdout)
    assert.deepEqual(JSON.parse(run('server/main.ts', '--version', '--json').stdout), { version })
  })

  it('says which Node it needs when run on an older one', () => {
    const old = `Object.defineProperty(process, 'versions', { value: { node: '20.20.2' } })`
    const { status, stderr } = run('-e', `${old}; require('./server/countersign.cjs')`)
    const line = `countersign: Node 26 or newer is needed; this is 20.20.2 (${process.execPath})\n`
    assert.deepEqual([status, stderr], [1, line])
  })

  it('reports in one line that a full disk lost its output', {
    skip: !existsSync('/dev/full') && 'needs /dev/full',
  }, () => {
    const full = openSync('/dev/full', 'w')
    const stdio: StdioOptions = ['ignore', full, 'pipe']
    const { status, stderr } = spawnSync(process.execPath, ['server/main.ts', '--help'], {
      cwd: root,
      encoding: 'utf8',
      stdio,
    })
    closeSync(full)
    assert.equal(status, 1)
    assert.match(stderr, /^countersign: standard output cannot be written: ENOSPC[^\n]*\n$/)
  })
})
