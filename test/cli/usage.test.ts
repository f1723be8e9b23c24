import assert from 'node:assert/strict'
import { type StdioOptions, spawnSync } from 'node:child_process'
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { commands } from '../../server/cli/catalogue.ts'
import { describeFailure } from '../../server/cli/failures.ts'
import { ConfigurationError } from '../../server/config.ts'
import { Problem } from '../../server/http/problems.ts'
import { commandLine } from './command-line.ts'

describe('--help', () => {
  it('shows usage and an example of every command, on standard output', async (t) => {
    const cli = commandLine(t)
    const names = [...commands.keys()]
    const results = await Promise.all(names.map((name) => cli.run(`${name} --help`)))
    assert.deepEqual(
      results.map(({ status, stderr }) => ({ status, stderr })),
      names.map(() => ({ status: 0, stderr: '' })),
    )
    assert.deepEqual(
      results.filter(
        ({ stdout }, index) => !stdout.startsWith(`Usage: node server/main.ts ${names[index]} `),
      ),
      [],
    )
    assert.deepEqual(
      results.filter(({ stdout }) => !/\nExamples?:\n {2}node server\/main\.ts /.test(stdout)),
      [],
    )
    assert.equal(existsSync(cli.databaseFile), false)
  })

  it('lists the commands, all or of one group', async (t) => {
    const cli = commandLine(t)
    const [all, word, short, group] = await Promise.all([
      cli.run('--help'),
      cli.run('help'),
      cli.run('-h'),
      cli.run('user --help'),
    ])
    assert.equal(all.status, 0)
    assert.deepEqual(
      [...commands.keys()].filter((name) => !all.stdout.includes(`\n  ${name} `)),
      [],
    )
    assert.deepEqual([word, short], [all, all])
    assert.equal(group.status, 0)
    assert.match(group.stdout, /\n {2}user set-password {2}give a user a new password\n/)
    assert.doesNotMatch(group.stdout, /client add/)
  })
})

describe('a wrong command line', { concurrency: 4 }, () => {
  it('is answered with the commands when there is none', async (t) => {
    const cli = commandLine(t)
    const [nothing, help, group, groupHelp] = await Promise.all([
      cli.run(''),
      cli.run('--help'),
      cli.run('user'),
      cli.run('user --help'),
    ])
    assert.deepEqual(nothing, { status: 2, stdout: '', stderr: help.stdout })
    assert.deepEqual(group, { status: 2, stdout: '', stderr: groupHelp.stdout })
  })

  it('is explained in one line, with exit status 2 and no value of it repeated', async (t) => {
    const cli = commandLine(t)
    const roleOption = "option '--role' argument is ambiguous"
    const cases: [args: string, message: string, help: string][] = [
      ['users', "no command 'users' (did you mean user?)", ''],
      ['user remove jo', "no command 'user remove' (did you mean user revoke?)", 'user '],
      ['user', 'user: a command is missing', 'user '],
      ['', 'a command comes first', ''],
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
      ['user sign-out', 'user sign-out: the user is missing: give an email or a user name', 'user sign-out '],
      ['user sign-out jo --all', 'user sign-out: --all means every user: name none', 'user sign-out '],
      ['user grant jo', 'user grant: a role is missing', 'user grant '],
      ['client add', 'client add: the client id is missing', 'client add '],
      ['role allow Viewer', 'role allow: a permission is missing', 'role allow '],
      ['backup', 'backup: the file is missing', 'backup '],
      ['key generate --bits many', 'key generate: --bits takes a number, such as 3072', 'key generate '],
      ['serve --no-demo-orders', 'serve: --no-demo-orders goes with --dev', 'serve '],
    ]
    const results = await Promise.all(cases.map(([args]) => cli.run(`--json ${args}`)))
    const expected = cases.map(([, message, help]) => ({
      status: 2,
      stdout: '',
      stderr: { error: { code: 'usage', message: `${message} (see: node server/main.ts ${help}--help)` } },
    }))
    assert.deepEqual(
      results.map((result) => ({ ...result, stderr: JSON.parse(result.stderr) })),
      expected,
    )
    const [plain] = await Promise.all([cli.run('user list --frob=hunter2')])
    assert.deepEqual(plain, {
      status: 2,
      stdout: '',
      stderr: "countersign: user list: unknown option '--frob' (see: node server/main.ts user list --help)\n",
    })
    assert.equal(existsSync(cli.databaseFile), false)
  })
})

describe('a configuration with faults', () => {
  it('keeps serve from starting, and names each of them', async (t) => {
    const { status, stdout, stderr } = await commandLine(t).run('serve', '', { PORT: 'x' })
    assert.equal(status, 1)
    assert.equal(stdout, '')
    const lines = stderr.split('\n').map((line) => line.slice(0, line.indexOf(':')))
    assert.deepEqual(lines.slice(0, 5), [
      'Countersign cannot start',
      '  - PORT',
      '  - PUBLIC_URL',
      '  - SIGNING_KEY_FILES',
      '  - ANTIFORGERY_KEY or ANTIFORGERY_KEY_FILE',
    ])
  })

  it('is refused with one line for each', () => {
    const { message, exitStatus } = describeFailure(
      new ConfigurationError(['PORT: must be x', 'HOST: must be y']),
    )
    assert.equal(message, 'Countersign cannot start:\n  - PORT: must be x\n  - HOST: must be y')
    assert.equal(exitStatus, 1)
  })
})

describe('a write that came second', () => {
  it('is refused in the words of the API', () => {
    const { code, message, exitStatus } = describeFailure(new Problem('concurrency-conflict'))
    assert.deepEqual([code, message, exitStatus], ['concurrency-conflict', 'Another write came first', 1])
  })
})

describe('what is meant', { concurrency: 4 }, () => {
  const mistyped: Record<string, string> = {
    'user lst': "no command 'user lst' (did you mean user list?) (see: node server/main.ts user --help)",
    'usr list': "no command 'usr' (did you mean user list?) (see: node server/main.ts --help)",
    servr: "no command 'servr' (did you mean serve?) (see: node server/main.ts --help)",
    frobnicate: "no command 'frobnicate' (see: node server/main.ts --help)",
    'user add --rol X':
      "user add: unknown option '--rol' (did you mean --role?) (see: node server/main.ts user add --help)",
  }
  for (const [line, message] of Object.entries(mistyped)) {
    it(`by ${line}`, async (t) => {
      const stderr = `countersign: ${message}\n`
      assert.deepEqual(await commandLine(t).run(line), { status: 2, stdout: '', stderr })
    })
  }
})

describe('the program', () => {
  const root = new URL('../..', import.meta.url)
  const run = (...args: string[]) => spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' })

  it('tells its version', () => {
    const { version } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'))
    const { stdout } = run('server/countersign.cjs', '--version')
    assert.equal(stdout, `countersign ${version}, Node ${process.versions.node}\n`)
    assert.deepEqual(JSON.parse(run('server/main.ts', '--version', '--json').stdout), { version })
  })

  it('says which Node it needs on one that cannot read it', () => {
    const old = `Object.defineProperty(process, 'versions', { value: { node: '20.20.2' } })`
    const { status, stderr } = run('-e', `${old}; require('./server/countersign.cjs')`)
    const line = `countersign: Node 26 or newer is needed; this is 20.20.2 (${process.execPath})\n`
    assert.deepEqual([status, stderr], [1, line])
  })

  it('says in one line that its output is lost on a full disk', {
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
