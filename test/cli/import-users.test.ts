// engine: both
import assert from 'node:assert/strict'
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, afterEach, beforeEach, describe, it } from 'node:test'
import { machineStamp } from '../../server/audit/audit.ts'
import { sha256 } from '../../server/ids.ts'
import { openAppDatabase } from '../../server/operations.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { storedEvents } from '../support/kept-log.ts'
import { publicUrl } from '../support/service.ts'
import { commandLine, goodPassword, type Result, refusal } from './command-line.ts'

const cli = commandLine({ after })
let database: TestDatabase
/** In each describe: hooks outside of one run for the other files of the process as well. */
function databaseForEach(): void {
  beforeEach(async () => {
    database = await createTestDatabase()
  })
  afterEach(() => database.drop())
}

const file = (name: string) => join(cli.folder, name)
const run = (command: string, input = '') =>
  cli.run(command, input, { DATABASE_URL: database.databaseUrl, PUBLIC_URL: publicUrl })

function importing(text: string | Buffer, options = '') {
  writeFileSync(file('users'), text)
  return run(`user import users ${options}`)
}

async function stored<T>(read: (db: Awaited<ReturnType<typeof openAppDatabase>>) => Promise<T>): Promise<T> {
  const db = await openAppDatabase({ databaseUrl: database.databaseUrl })
  try {
    return await read(db)
  } finally {
    await db.close()
  }
}

const listed = async (): Promise<{ id: number; userName: string; roles: string[] }[]> =>
  JSON.parse((await run('user list --json')).stdout)
const namesAndRoles = async () =>
  (await listed()).map(({ userName, roles }) => [userName, ...roles].join(' '))
/** Each with the name that its subject has. */
async function eventsOfUsers(): Promise<[kind: string, data: { name: string }][]> {
  const names = new Map((await listed()).map(({ id, userName }) => [String(id), userName]))
  const events = await stored(({ read }) => storedEvents(read))
  return events.map(({ kind, data, subject_id: id }) => {
    assert.equal(names.get(id), JSON.parse(data).name)
    return [kind, JSON.parse(data)]
  })
}
const passwordHashes = () =>
  stored(async ({ read }) => {
    const rows = await read.selectFrom('users').select(['email', 'password_hash']).orderBy('email').execute()
    return rows.map((row) => [row.email, row.password_hash])
  })

const headings = 'name,email,roles,zone,passwordHash'
const argon2 =
  '$argon2id$v=19$m=65536,t=3,p=4$c29tZXNhbHRzb21lc2FsdA$iDuA7AyV0Dw3WMzSpuQ0l6nJmgzwUkWVYPDcsENL7oY'
const assertAdded = ({ status, stdout }: Result, added: number | string, existing = 0) =>
  assert.deepEqual([status, stdout], [0, `Users added: ${added}; already there: ${existing}.\n`])
const refused = (count: number, lines: string[]) =>
  refusal(`users has ${count} faults; nothing was written:\n${lines.map((line) => `  ${line}`).join('\n')}`)
const withoutProgress = (result: { stderr: string }) => ({
  ...result,
  stderr: result.stderr.replaceAll(/^(?:checked|added) .* users\n/gm, ''),
})

describe('user import', () => {
  databaseForEach()

  it('adds the users of CSV, each with its event', async () => {
    const text = `\ufeff${headings}\r\nJo,Jo@Example.com,"viewer;Operator",europe/berlin,"${argon2}"\r\n\r\n"al","al@example.com",,,\r\n`
    assertAdded(await importing(text), 2)
    const users = await listed()
    assert.partialDeepStrictEqual(users, [
      {
        userName: 'Jo',
        email: 'jo@example.com',
        roles: ['Operator', 'Viewer'],
        timeZone: 'Europe/Berlin',
        hasPassword: true,
      },
      {
        userName: 'al',
        email: 'al@example.com',
        roles: [],
        timeZone: null,
        hasPassword: false,
        enabled: true,
        demo: false,
      },
    ])
    assert.deepEqual(await passwordHashes(), [
      ['al@example.com', null],
      ['jo@example.com', `imported:${argon2}`],
    ])
    assert.deepEqual(await eventsOfUsers(), [
      ['user-added', { name: 'Jo', roles: ['Operator', 'Viewer'] }],
      ['user-added', { name: 'al', roles: [] }],
    ])
    assert.equal((await run('log verify')).status, 0)
  })

  it('adds the users of JSON Lines, in any order of members, and without a line feed at the end', async () => {
    const lines = [
      { email: 'jo@example.com', name: 'jo', roles: ['Admin'], zone: null, passwordHash: argon2 },
      { name: 'al', email: 'AL@example.com' },
    ].map((user) => JSON.stringify(user))
    assertAdded(await importing(lines.join('\n')), 2)
    assert.deepEqual(await namesAndRoles(), ['jo Admin', 'al'])
  })

  it('adds more users than fit into one batch', async () => {
    const lines = Array.from({ length: 2_500 }, (_, index) => `u${index},u${index}@example.com,Viewer`)
    assertAdded(await importing(`name,email,roles\n${lines.join('\n')}\n`), '2,500')
    const counts = await stored(async ({ read }) => ({
      ...(await read.selectFrom('administration').select('users').executeTakeFirstOrThrow()),
      ...(await read
        .selectFrom('roles')
        .select('accounts')
        .where('name', '=', 'Viewer')
        .executeTakeFirstOrThrow()),
    }))
    assert.deepEqual(counts, { users: 2_500, accounts: 2_500 })
    const events = await eventsOfUsers()
    const names = events.map(([, { name }]) => name)
    assert.deepEqual(
      names,
      lines.map((line) => line.split(',')[0]),
    )
  })

  it('leaves users who exist as they are, so that it can be run again', async () => {
    const text = 'name,email,roles\njo,jo@example.com,Viewer\nal,al@example.com,Viewer\n'
    await run('user add jo@example.com --role Admin', goodPassword)
    assertAdded(await importing(text), 1, 1)
    const again = await importing(text, '--json')
    assert.deepEqual(JSON.parse(again.stdout), { users: 2, existing: 2, added: 0 })
    assert.deepEqual(await namesAndRoles(), ['jo Admin', 'al Viewer'])
    assert.equal((await eventsOfUsers()).length, 2)
  })

  it('with --dry-run checks every line and writes nothing', async () => {
    await run('user add jo@example.com --invite')
    const text = 'name,email\njo,jo@example.com\nal,al@example.com\n'
    const { status, stdout } = await importing(text, '--dry-run --links links.csv')
    assert.deepEqual([status, stdout], [0, 'Every line is valid. Users to add: 1; already there: 1.\n'])
    assert.equal((await listed()).length, 1)
    assert.throws(() => statSync(file('links.csv')))
  })

  it('names every line that breaks a rule, and writes nothing', async () => {
    await run('user add taken@example.com --invite')
    await run('client add billing')
    const name = 'name must begin with a letter and have at most 64 letters, digits and . _ -'
    const email = 'email must have 3 to 254 characters, with one @ inside and no spaces'
    const text = [
      'name,email,roles,zone',
      'good,good@example.com,Viewer,UTC',
      '1x,1x@example.com,,',
      'x,no email,,',
      'GOOD,other@example.com,,',
      'other,Good@example.com,,',
      'y,y@example.com,Wizard,Mars/Base',
      'taken,someone@example.com,,',
      'someone,taken@example.com,,',
      'Billing,billing@example.com,,',
      'z,z@example.com',
      'q,q""@example.com,,',
    ].join('\n')
    assert.deepEqual(
      withoutProgress(await importing(text)),
      refused(11, [
        `line 3: ${name}`,
        `line 4: ${email}`,
        'line 5: name is that of line 2',
        'line 6: email is that of line 2',
        'line 7: roles must be among Admin, Operator, Viewer',
        'line 7: zone must be an IANA name such as Europe/Berlin',
        'line 8: name is that of another account',
        'line 9: email is that of another account',
        'line 10: name is that of another account',
        'line 11: must have 4 cells, not 2',
        'line 12: must be CSV: a quote stands at the start of a cell and is doubled within it',
      ]),
    )
    assert.equal((await listed()).length, 1)
  })

  it('adds a whole batch or nothing if a name or an email was taken, or a role removed, since the check', async () => {
    await run('user add taken@example.com --invite')
    const user = (userName: string, email: string, roles: string[] = []) => {
      return { eventId: userName, userName, email, passwordHash: null, timeZone: null, roles }
    }
    const free = user('free', 'free@example.com')
    for (const [code, late] of [
      ['name-taken', user('Taken', 'other@example.com')],
      ['email-taken', user('other', 'taken@example.com')],
      ['unknown-role', user('other', 'other@example.com', ['Gone'])],
    ] as const) {
      const input = { users: [free, late], stamp: machineStamp(1) }
      await stored((db) => assert.rejects(db.write('addUsers', input), { code }))
    }
    assert.equal((await listed()).length, 1)
  })

  it('prints the refused lines as JSON, at most a hundred of them', async () => {
    const lines = Array.from({ length: 150 }, (_, index) => `${index},${index}@example.com`)
    const { status, stderr } = await importing(`name,email\n${lines.join('\n')}\n`, '--json')
    const { error } = JSON.parse(stderr.trimEnd().split('\n').at(-1) ?? '')
    assert.deepEqual([status, error.code, error.count, error.faults.length], [1, 'bad-users', 150, 100])
    assert.deepEqual(Object.keys(error.faults[0]), ['line', 'field', 'rule'])
    assert.deepEqual([error.faults[0].line, error.faults[0].field], [2, 'name'])
    assert.match(error.message, /\n {2}and 50 more$/)
  })

  it('accepts hashes of Argon2 and bcrypt whose cost is acceptable, and no others', async () => {
    const tail = argon2.slice(argon2.indexOf('$c29'))
    const bad = 'must be a hash of Argon2 (PHC format, version 19) or bcrypt ($2a$, $2b$, $2y$)'
    const badBcrypt = 'must be a hash of bcrypt: $2a$, $2b$ or $2y$, and a cost from 4'
    const bcrypt = (begin: string) => `${begin}$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW`
    const costly = 'costs too much: at most m=262144, m times t 1048576 and p=16'
    const good = [
      ...['id', 'i', 'd'].map((kind) => `$argon2${kind}$v=19$m=262144,t=4,p=16${tail}`),
      ...['$2a$04', '$2b$12', '$2y$14'].map(bcrypt),
    ]
    const faults: [passwordHash: string, rule: string][] = [
      [`$argon2id$v=19$m=10485760,t=2,p=1${tail}`, costly],
      [`$argon2id$v=19$m=262144,t=5,p=1${tail}`, costly],
      [`$argon2id$v=19$m=8,t=1000000,p=1${tail}`, costly],
      [`$argon2id$v=19$m=4096,t=2,p=17${tail}`, costly],
      [`$argon2id$v=19$m=7,t=2,p=1${tail}`, 'has impossible parameters'],
      [`$argon2id$v=19$m=64,t=0,p=1${tail}`, 'has impossible parameters'],
      [`$argon2id$v=16$m=4096,t=2,p=1${tail}`, bad],
      [`$argon2id$v=19$m=99999999999,t=2,p=1${tail}`, bad],
      [`$argon2id$v=19$m=4096,t=2,p=1,keyid=x${tail}`, bad],
      [`imported:${argon2}`, bad],
      [goodPassword, bad],
      [bcrypt('$2b$15'), 'costs too much: at most 14'],
      [bcrypt('$2b$31'), 'costs too much: at most 14'],
      [bcrypt('$2b$03'), badBcrypt],
      [bcrypt('$2x$10'), badBcrypt],
      [bcrypt('$2$10'), badBcrypt],
      [`${bcrypt('$2b$10')}x`, badBcrypt],
      [`${argon2}\u0000`, bad],
    ]
    const line = (passwordHash: string, index: number) =>
      JSON.stringify({ name: `u${index}`, email: `u${index}@example.com`, passwordHash })
    const { stderr } = await importing([...good, ...faults.map(([text]) => text)].map(line).join('\n'))
    const rules = faults.map(([, rule], index) => `line ${index + 1 + good.length}: passwordHash ${rule}`)
    assert.equal(stderr.replace(/^checked .*\n/, ''), refused(faults.length, rules).stderr)
    assertAdded(await importing(good.map(line).join('\n')), 6)
  })
})

describe('a hostile file', () => {
  databaseForEach()

  const broken = (line: number, rule: string) =>
    [new RegExp(`\n  line ${line}: ${rule}`), 'bad-users'] as const
  const cases: Record<string, [text: string | Buffer, reason: RegExp, code: string]> = {
    'that is empty': ['', /^users is empty$/, 'bad-file'],
    'of headings that are none': ['jo,jo@example.com\n', /^users:1 has the unknown heading "jo"/, 'bad-file'],
    'with a heading twice': ['name,email,name\n', /^users:1 has a heading twice$/, 'bad-file'],
    'with a heading of the language': ['name,email,__proto__\n', /unknown heading "__proto__"/, 'bad-file'],
    'without names': ['email\njo@example.com\n', ...broken(2, 'name must')],
    'with a member of the language': [
      '{"name":"jo","email":"jo@example.com","__proto__":{"roles":["Admin"]}}\n',
      ...broken(1, 'has the unknown member "__proto__"'),
    ],
    'with a member misspelt': [
      '{"name":"jo","email":"a@b","role":["Admin"]}\n',
      ...broken(1, 'has the unknown member'),
    ],
    'that is no JSON': ['{"name":"jo"\n', ...broken(1, 'must be JSON')],
    'with a list in it': ['{"name":"jo","email":"jo@x.y"}\n[]\n', ...broken(2, 'must be a JSON object')],
    'with other types': [
      '{"name":1,"email":["a@b"],"roles":"Admin","zone":1,"passwordHash":{}}\n',
      ...broken(1, 'name must'),
    ],
    'with a role that is not text': [
      '{"name":"jo","email":"a@b.c","roles":[{"toLowerCase":1}]}\n',
      ...broken(1, 'roles must'),
    ],
    'with half a character': ['{"name":"jo","email":"\\ud800@example.com"}\n', ...broken(1, 'email must')],
    'with NUL': ['name,email\njo\u0000,jo@example.com\n', ...broken(2, 'name must')],
    'that is not UTF-8': [
      Buffer.from('name,email\nj\xf6,jo@example.com\n', 'latin1'),
      ...broken(2, 'must be UTF-8'),
    ],
    'with a quote that is not closed': [
      'name,email\n"jo,jo@example.com\nal,al@example.com\n',
      /^users:2 opens a quote that is not closed$/,
      'bad-file',
    ],
    'with a quote that is not closed, and much behind it': [
      `name,email\n"jo${'x\n'.repeat(100_000)}`,
      /^users:2 opens a quote/,
      'bad-file',
    ],
    'with a line without end': [
      `name,email\n${'x'.repeat(1_000_000)}`,
      /^users:2 is too long for a user/,
      'bad-file',
    ],
    'with a line feed in a name': [
      'name,email\n"j\no",jo@example.com\nal,nothing\n',
      ...broken(4, 'email must'),
    ],
  }
  for (const [what, [text, reason, code]] of Object.entries(cases)) {
    it(`${what} is refused, and nothing is written`, async () => {
      const { status, stderr } = await importing(text, '--json')
      const { error } = JSON.parse(stderr.trimEnd().split('\n').at(-1) ?? '')
      assert.deepEqual([status, error.code], [1, code])
      assert.match(error.message, reason)
      assert.deepEqual(await listed(), [])
    })
  }
})

describe('user import --links', () => {
  databaseForEach()
  beforeEach(() => rmSync(file('links.csv'), { force: true }))

  const text = `name,email,passwordHash\njo,jo@example.com,\nal,al@example.com,"${argon2}"\n`

  it('writes a one-time link for each user without a password, for its owner alone', async () => {
    const { stdout } = await importing(text, '--links links.csv')
    assert.equal(
      stdout,
      'Users added: 2; already there: 0. Links written: 1, each for one use within 24 hours.\n',
    )
    assert.equal(statSync(file('links.csv')).mode & 0o777, 0o600)
    const [headings, line = '', end] = readFileSync(file('links.csv'), 'utf8').split('\r\n')
    assert.deepEqual([headings, end], ['name,link', ''])
    const [name, link = ''] = line.split(',')
    const { origin, pathname, hash } = new URL(link)
    const { token = '', email } = Object.fromEntries(new URLSearchParams(hash.slice(1)))
    assert.deepEqual([name, origin, pathname, email], ['jo', publicUrl, '/link', 'jo@example.com'])
    const rows = await stored(({ read }) => read.selectFrom('one_time_links').select('token_hash').execute())
    assert.deepEqual(rows, [{ token_hash: sha256(token) }])
    assert.deepEqual(
      (await eventsOfUsers()).map(([kind, { name }]) => [kind, name]),
      [
        ['user-added', 'jo'],
        ['user-added', 'al'],
        ['link-made', 'jo'],
      ],
    )
  })

  it('makes new links when run again, for enabled users who still have no password', async () => {
    const more = `${text}eve,eve@example.com,\nsam,sam@example.com,\n`
    await importing(more)
    await run('user disable eve')
    await run('user set-password sam', goodPassword)
    const old = { tokenHash: 'of an old link', stamp: machineStamp(1) }
    await stored((db) => db.write('makeLink', { account: { kind: 'user', name: 'jo' }, ...old }))
    const { stdout } = await importing(more, '--links links.csv --json')
    assert.deepEqual(JSON.parse(stdout), { users: 4, existing: 4, added: 0, links: 1 })
    const [, token = ''] =
      /^name,link\r\njo,[^\r]+token=([\w-]+)[^\r]+\r\n$/.exec(readFileSync(file('links.csv'), 'utf8')) ?? []
    const [link] = await stored(({ read }) => read.selectFrom('one_time_links').selectAll().execute())
    assert.equal(link?.token_hash, sha256(token))
    assert.ok(link.expires_at > Date.now())
  })

  it('writes no link if every user without a password is disabled', async () => {
    const eve = 'name,email\neve,eve@example.com\n'
    await importing(eve)
    await run('user disable eve')
    const { stdout } = await importing(eve, '--links links.csv')
    assert.match(stdout, /Links written: 0,/)
    assert.equal(readFileSync(file('links.csv'), 'utf8'), 'name,link\r\n')
  })

  it('replaces no file', async () => {
    writeFileSync(file('links.csv'), 'kept')
    const { status, stderr } = await importing(text, '--links links.csv')
    assert.equal(status, 1)
    assert.match(stderr, /countersign: links.csv: already exists\n$/)
    assert.equal(readFileSync(file('links.csv'), 'utf8'), 'kept')
    assert.deepEqual(await listed(), [])
  })
})
