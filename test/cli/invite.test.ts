import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, afterEach, beforeEach, describe, it } from 'node:test'
import { sha256 } from '../../server/ids.ts'
import { openAppDatabase } from '../../server/operations.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { storedEvents } from '../support/kept-log.ts'
import { publicUrl } from '../support/service.ts'
import { until } from '../support/stream.ts'
import { commandLine, type Result, refusal } from './command-line.ts'

const cli = commandLine({ after })
const file = (name: string) => join(cli.folder, name)
let database: TestDatabase
/** In each describe: hooks outside of one run for the other files of the process as well. */
function databaseForEach(): void {
  beforeEach(async () => {
    database = await createTestDatabase()
    rmSync(file('links.csv'), { force: true })
  })
  afterEach(() => database.drop())
}

const environment = () => ({ DATABASE_URL: database.databaseUrl, PUBLIC_URL: publicUrl })
const run = (command: string, env = environment()) => cli.run(command, '', env)
const invite = (text: string | Buffer, options = '--links links.csv', env = environment()) => {
  writeFileSync(file('users.csv'), text)
  return run(`user invite users.csv ${options}`, env)
}
const withoutProgress = (result: Result) => ({
  ...result,
  stderr: result.stderr.replaceAll(/^(?:added .* users|\{"progress".*)\n/gm, ''),
})

async function stored<T>(read: (db: Awaited<ReturnType<typeof openAppDatabase>>) => Promise<T>): Promise<T> {
  const db = await openAppDatabase({ databaseUrl: database.databaseUrl })
  try {
    return await read(db)
  } finally {
    await db.close()
  }
}

async function listed(): Promise<{ userName: string; email: string; roles: string[] }[]> {
  await run('migrate')
  return JSON.parse((await run('user list --json')).stdout)
}
const linesOf = (name: string) => readFileSync(file(name), 'utf8').split('\r\n').slice(1, -1)
const tokenIn = (line = '') => new URLSearchParams(line.split('#')[1]).get('token') ?? ''
const hashesOfLinks = () =>
  stored(async ({ read }) => {
    const rows = await read.selectFrom('one_time_links').select('token_hash').execute()
    return rows.map((row) => row.token_hash).sort()
  })
const many = (count: number) =>
  `email\n${Array.from({ length: count }, (_, index) => `u${index}@example.com\n`).join('')}`

describe('user invite', () => {
  databaseForEach()

  it('adds the users of a file as the API does, each with two events and a link', async () => {
    const text =
      '\ufeffuserName,email,roles,timeZone\r\nJo,Jo@Example.com,"viewer, Operator",europe/berlin\r\n\r\n,"al.b@example.com",,\r\n,,,'
    const result = withoutProgress(await invite(text))
    assert.deepEqual(result, {
      status: 0,
      stdout: 'Users added: 2; their links are in links.csv, for one use within 24 hours.\n',
      stderr: '',
    })
    assert.partialDeepStrictEqual(await listed(), [
      {
        userName: 'Jo',
        email: 'jo@example.com',
        roles: ['Operator', 'Viewer'],
        timeZone: 'Europe/Berlin',
        hasPassword: false,
      },
      { userName: 'al.b', email: 'al.b@example.com', roles: [], timeZone: null, hasPassword: false },
    ])
    const events = await stored(({ read }) => storedEvents(read))
    assert.deepEqual(
      events.map(({ kind, clear }) => [kind, JSON.parse(clear).name.value]),
      ['Jo', 'al.b'].flatMap((name) => [
        ['user-added', name],
        ['link-made', name],
      ]),
    )
    assert.equal(statSync(file('links.csv')).mode & 0o777, 0o600)
    const lines = linesOf('links.csv')
    assert.match(
      lines[0] ?? '',
      new RegExp(`^jo@example\\.com,${publicUrl}/link#token=[\\w-]{43}&email=jo%40`),
    )
    assert.deepEqual(await hashesOfLinks(), lines.map((line) => sha256(tokenIn(line))).sort())
  })

  it('leaves users who exist as they are, and says which', async () => {
    const text = 'email,userName,roles\njo@example.com,jo,Viewer\nAL@example.com,al,Viewer\n'
    await run('user add jo@example.com --user-name joanna --role Admin --invite')
    const first = await invite(text)
    assert.match(
      first.stdout,
      /^Users added: 1;.*\nThese exist and were left as they are: jo@example\.com\.\n$/,
    )
    const again = await invite(text, '--links links.csv --json')
    assert.deepEqual(JSON.parse(again.stdout), { added: [], existing: ['jo@example.com', 'al@example.com'] })
    assert.deepEqual(
      (await listed()).map(({ userName, roles }) => [userName, roles]),
      [
        ['joanna', ['Admin']],
        ['al', ['Viewer']],
      ],
    )
    assert.equal(linesOf('links.csv').length, 1)
  })

  it('needs no file for the links if the service mails them', async () => {
    const env = { ...environment(), SMTP_URL: 'smtp://127.0.0.1:25' }
    const none = refusal('the service sends no mail (SMTP_URL): give --links FILE, a new file for the links')
    assert.deepEqual(await invite(many(1), '', env), none)
    await stored((db) => db.write('queueEventMails', { nowMilliseconds: Date.now() }))
    assert.deepEqual(await invite(many(1), ''), none)
    const { stdout } = await invite(many(1), '', env)
    assert.equal(stdout, 'Users added: 1; each is mailed a link, for one use within 24 hours.\n')
    await stored(async (db) => {
      await db.write('sealEvents', { limit: 10 })
      await db.write('queueEventMails', { nowMilliseconds: Date.now() })
      const mails = await db.read.selectFrom('mails').select(['kind', 'recipient']).execute()
      assert.deepEqual(mails, [{ kind: 'link', recipient: '1' }])
    })
  })

  it('writes links to a new file only, and follows no symbolic link', async () => {
    writeFileSync(file('links.csv'), 'kept')
    symlinkSync(file('elsewhere'), file('dangling'))
    for (const name of ['links.csv', 'dangling']) {
      const refused = refusal(`${name} already exists; it was not changed`)
      assert.deepEqual(await invite(many(1), `--links ${name}`), refused)
    }
    assert.equal(readFileSync(file('links.csv'), 'utf8'), 'kept')
    assert.throws(() => statSync(file('elsewhere')), { code: 'ENOENT' })
    assert.deepEqual(await listed(), [])
  })

  it('names every row that breaks a rule, and adds nobody', async () => {
    await run('user add taken@example.com --invite')
    await run('client add billing')
    const text = [
      'email,userName,roles,timeZone',
      'good@example.com,good,Viewer,UTC',
      'Good@example.com,other,,',
      'other@example.com,GOOD,,',
      'no email,x,,',
      '7@example.com,,,',
      'y@example.com,y,Wizard,',
      'z@example.com,z,,Mars/Base',
      'someone@example.com,Taken,,',
      'billing@example.com,,,',
      'a@example.com,a',
      'n\u0000l@example.com,n,,',
      'm@example.com,m\u0000,,',
    ].join('\n')
    const email = 'email must have one @ between non-empty sides, no spaces and none of ()<>[]:;,"\\'
    const userName =
      'userName must begin with a letter (A to Z) and have at most 64 of A to Z, digits and . _ -'
    const faults = [
      'line 3: email good@example.com is already on line 2',
      'line 4: userName good is already on line 2',
      `line 5: ${email}`,
      `line 6: ${userName}`,
      'line 7: there is no role Wizard; the roles are Admin, Operator, Viewer',
      'line 8: timeZone must be an IANA name such as Europe/Berlin',
      'line 11: has 2 cells instead of 4',
      `line 12: ${email}`,
      `line 13: ${userName}`,
      'line 9: userName Taken is taken',
      'line 10: userName billing is taken',
    ]
    const message = ['users.csv has 11 faults; nobody was added:', ...faults].join('\n  ')
    assert.deepEqual(await invite(text), refusal(message))
    const { stderr } = await invite(text, '--links links.csv --json')
    assert.deepEqual(JSON.parse(stderr), { error: { code: 'bad-users', message, faults } })
    assert.equal((await listed()).length, 1)
    assert.throws(() => statSync(file('links.csv')), { code: 'ENOENT' })
  })

  it('takes a thousand users and not one more', async () => {
    const refused = refusal('users.csv has 1,001 users; the limit is 1,000')
    assert.deepEqual(await invite(many(1_001)), refused)
    const { stdout } = await invite(many(1_000))
    assert.match(stdout, /^Users added: 1,000;/)
    assert.equal((await listed()).length, 1_000)
    const again = JSON.parse((await invite(many(1_000), '--links other.csv --json')).stdout)
    assert.deepEqual([again.added.length, again.existing.length], [0, 1_000])
  })

  const hostile: Record<string, [text: string | Buffer, reason: RegExp]> = {
    'that is empty': ['', /^users\.csv must begin with a line of headings/],
    'without headings': ['jo@example.com\n', /^users\.csv must begin with a line of headings/],
    'without emails': ['userName\njo\n', /must begin with a line of headings/],
    'with a heading twice': ['email,email\n', /must begin with a line of headings/],
    'with a heading of the language': ['email,__proto__\n', /must begin with a line of headings/],
    'that is not UTF-8': [Buffer.from('email\nj\xf6@example.com\n', 'latin1'), /^users\.csv is not UTF-8$/],
    'with an open quote': ['email\n"jo@example.com\nal@example.com\n', /^users\.csv:2 is not CSV/],
    'with a quote inside a cell': ['email\njo"@example.com\n', /^users\.csv:2 is not CSV/],
    'with text after a quote': ['email\n"jo"@example.com\n', /^users\.csv:2 is not CSV/],
    'with a million quotes': [`email\n"${'""'.repeat(500_000)}`, /^users\.csv:2 is not CSV/],
    'that is too large': [`email\n${'x'.repeat(1_048_576)}`, /^users\.csv is larger than 1048576 bytes$/],
    'with a line feed in a cell': [
      'email\n"j\no@example.com"\nnobody',
      /\n {2}line 2: email must.*\n {2}line 4: email must/,
    ],
  }
  it('refuses a hostile file, and adds nobody', async () => {
    for (const [what, [text, reason]] of Object.entries(hostile)) {
      const { status, stderr } = await invite(text, '--links links.csv --json')
      assert.equal(status, 1, what)
      assert.match(JSON.parse(stderr).error.message, reason, what)
    }
    assert.deepEqual(await listed(), [])
  })
})

describe('an interrupted user invite', () => {
  databaseForEach()
  const start = () => {
    writeFileSync(file('users.csv'), many(1_000))
    const main = new URL('../../server/main.ts', import.meta.url).pathname
    const args = [main, 'user', 'invite', 'users.csv', '--links', 'links.csv', '--json']
    const child = spawn(process.execPath, args, { cwd: cli.folder, env: environment() })
    let stderr = ''
    child.stderr.on('data', (text) => {
      stderr += text
    })
    return { child, ended: once(child, 'close').then(([status]) => ({ status, stderr })), said: () => stderr }
  }

  it('by a signal says whom it added, and is continued by the same file', async () => {
    const { child, ended, said } = start()
    await until(() => said().includes('"added":1}'))
    child.kill('SIGTERM')
    const { status, stderr } = await ended
    const { error } = JSON.parse(stderr.trimEnd().split('\n').at(-1) ?? '')
    assert.deepEqual([status, error.code], [1, 'invite-stopped'])
    assert.match(
      error.message,
      /^stopped after \d+ of 1,000 users \(interrupted\); give the same file again to continue$/,
    )
    const users = (await listed()).map(({ email }) => email)
    assert.deepEqual(error.added, users)
    assert.ok(users.length > 0 && users.length < 1_000)
    const rest = JSON.parse((await invite(many(1_000), '--links rest.csv --json')).stdout)
    assert.deepEqual([rest.added.length, rest.existing], [1_000 - users.length, users])
    assert.equal((await listed()).length, 1_000)
  })

  it('by SIGKILL leaves no user without a link in the file', async () => {
    const { child, ended, said } = start()
    await until(() => said().includes('"added":1}'))
    child.kill('SIGKILL')
    await ended
    const hashes = await hashesOfLinks()
    assert.equal(hashes.length, (await listed()).length)
    const written = linesOf('links.csv').map((line) => sha256(tokenIn(line)))
    assert.deepEqual(
      hashes.filter((hash) => !written.includes(hash)),
      [],
    )
    assert.ok(written.length - hashes.length <= 1)
  })
})
