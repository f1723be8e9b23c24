import assert from 'node:assert/strict'
import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it, type TestContext } from 'node:test'
import Sqlite from 'better-sqlite3'
import { schema } from '../../server/db/sqlite/schema.ts'
import { commandLine, goodPassword, type Result, refusal, runCommand, unprivileged } from './command-line.ts'

const readingCommands = [
  'log verify',
  'user list',
  'client list',
  'role list',
  'policy list',
  'absence list',
  'backup copy.db',
]
const skip = process.platform === 'win32' && 'has no such modes'
type Suffix = '' | '-wal' | '-shm'

const contentOf = (folder: string) =>
  readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'base64')])

interface Kept {
  place: string
  temporary: string
  /** Runs a command as an account that only the modes allow to write. */
  run(args: string): Promise<Result>
}

/** The files of a database of one user, whose sealed event is in the write-ahead log: `killed`, `closed`. */
const original = commandLine({ after })
before(async () => {
  await original.run('migrate')
  const connection = new Sqlite(original.databaseFile)
  connection.prepare('select 1 from roles').get()
  await original.run('user add jo@example.com --role Viewer', goodPassword)
  await original.run('log export') // seals
  for (const suffix of ['', '-wal', '-shm']) {
    copyFileSync(original.databaseFile + suffix, join(original.folder, `killed.db${suffix}`))
  }
  connection.pragma('wal_checkpoint(truncate)')
  copyFileSync(original.databaseFile, join(original.folder, 'closed.db'))
  connection.close()
})

/** Files of a database that nobody has open, with these modes. */
function keep(
  t: TestContext,
  { suffixes, folderMode, fileMode }: { suffixes: readonly Suffix[]; folderMode: number; fileMode: number },
): Kept {
  const { folder } = commandLine(t)
  const [place, temporary] = [join(folder, 'kept'), join(folder, 'temporary')]
  for (const made of [place, temporary]) mkdirSync(made)
  const whole = suffixes.includes('-wal') ? 'killed' : 'closed'
  for (const suffix of suffixes) {
    copyFileSync(join(original.folder, `${whole}.db${suffix}`), join(place, `test.db${suffix}`))
    chmodSync(join(place, `test.db${suffix}`), fileMode)
  }
  chmodSync(folder, 0o755)
  chmodSync(temporary, 0o777)
  const env = { DATABASE_URL: `file:${place}/test.db`, TMPDIR: temporary }
  return {
    place,
    temporary,
    async run(args) {
      chmodSync(place, folderMode)
      const result = await runCommand(args, '', temporary, env, unprivileged)
      chmodSync(place, 0o755)
      return result
    },
  }
}

describe('a command that only reads', () => {
  const contents: Record<string, Suffix[]> = {
    'the database alone': [''],
    'the database and its write-ahead log': ['', '-wal'],
    'all files of a service that was killed': ['', '-wal', '-shm'],
  }
  for (const [what, suffixes] of Object.entries(contents)) {
    for (const [where, folderMode] of [
      ['a folder', 0o555],
      ['files', 0o777],
    ] as const) {
      it(`works where ${where} may not be written, on ${what}`, { skip }, async (t) => {
        const { place, temporary, run } = keep(t, { suffixes, folderMode, fileMode: 0o444 })
        const before = contentOf(place)
        const { stdout, stderr } = await run('log verify')
        assert.match(stdout, /^The log is intact: 1 events/, stderr)
        assert.deepEqual(contentOf(place), before)
        assert.deepEqual(readdirSync(temporary), [])
      })
    }
  }

  it('refuses an older database, and does not change it', async (t) => {
    const cli = commandLine(t)
    await cli.run('migrate')
    cli.exec('delete from schema_migrations')
    const before = contentOf(cli.folder)
    const lacks = Object.keys(schema.migrations).join(', ')
    const line = `DATABASE_URL: the database is older than this version (it lacks ${lacks}): back it up, then run \`migrate\``
    for (const command of readingCommands.filter((each) => !each.startsWith('backup'))) {
      assert.deepEqual(await cli.run(command), refusal(line), command)
    }
    assert.deepEqual(contentOf(cli.folder), before)
  })

  it('refuses a missing database, and makes none', async (t) => {
    const cli = commandLine(t)
    const line = `DATABASE_URL: there is no database at ${cli.databaseFile}`
    for (const command of readingCommands) assert.deepEqual(await cli.run(command), refusal(line), command)
    assert.equal(existsSync(cli.databaseFile), false)
  })

  it('is refused in one line if it may not read the file, and leaves no copy', { skip }, async (t) => {
    const { temporary, run } = keep(t, { suffixes: [''], folderMode: 0o555, fileMode: 0 })
    const { status, stderr } = await run('user list')
    assert.match(stderr, /^countersign: DATABASE_URL: [^\n]*test\.db cannot be copied [^\n]*EACCES[^\n]*\n$/)
    assert.deepEqual([status, readdirSync(temporary)], [1, []])
  })
})

it('a command that writes is refused on a read-only disk, in one line', { skip }, async (t) => {
  const { run } = keep(t, { suffixes: ['', '-wal'], folderMode: 0o555, fileMode: 0o444 })
  const { status, stderr } = await run('log export')
  assert.match(stderr, /^countersign: DATABASE_URL: [^\n]*test\.db may not be written[^\n]*\n$/)
  assert.equal(status, 1)
})
