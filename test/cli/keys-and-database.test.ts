import assert from 'node:assert/strict'
import { createPrivateKey } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import Sqlite from 'better-sqlite3'
import { calculateJwkThumbprint, exportJWK } from 'jose'
import { commandLine, goodPassword, refusal } from './command-line.ts'

describe('key generate', () => {
  it('writes an RSA key in PKCS#8 that only its owner may read, and never replaces a file', async (t) => {
    const cli = commandLine(t)
    const file = join(cli.folder, 'signing.pem')
    const made = await cli.run(`key generate --bits 2048 --out ${file}`)
    const pem = readFileSync(file, 'utf8')
    const key = createPrivateKey(pem)
    const kid = await calculateJwkThumbprint(await exportJWK(key))
    const stdout = `Wrote an RSA key of 2048 bits to ${file} (kid ${kid}).\n`
    assert.deepEqual(made, { status: 0, stdout, stderr: '' })
    assert.match(pem, /^-----BEGIN PRIVATE KEY-----\n/)
    assert.equal(key.asymmetricKeyDetails?.modulusLength, 2048)
    assert.equal(statSync(file).mode & 0o777, 0o600)
    const exists = refusal(`${file} already exists; it was not changed`)
    assert.deepEqual(await cli.run(`key generate --bits 2048 --out ${file}`), exists)
    assert.equal(readFileSync(file, 'utf8'), pem)
    assert.equal(existsSync(cli.databaseFile), false)
  })

  it('prints only the key when no file is named', async (t) => {
    const cli = commandLine(t)
    const plain = await cli.run('key generate --bits 2048')
    const json = await cli.json<{ privateKey: string; bits: number }>('key generate')
    const antiforgery = await cli.run('key generate --antiforgery')
    assert.equal(createPrivateKey(plain.stdout).asymmetricKeyType, 'rsa')
    assert.equal(createPrivateKey(json.privateKey).asymmetricKeyDetails?.modulusLength, 3072)
    assert.equal(json.bits, 3072)
    assert.match(antiforgery.stdout, /^[A-Za-z0-9+/]{43}=\n$/)
  })

  for (const [option, what] of [
    ['antiforgery', 'an antiforgery key'],
    ['webhook', 'a key of webhooks'],
  ]) {
    it(`writes ${what} of 32 bytes that only its owner may read`, async (t) => {
      const cli = commandLine(t)
      const file = join(cli.folder, 'some.key')
      const { stdout } = await cli.run(`key generate --${option} --out ${file}`)
      assert.equal(stdout, `Wrote ${what} to ${file}.\n`)
      assert.equal(Buffer.from(readFileSync(file, 'utf8'), 'base64').length, 32)
      assert.equal(statSync(file).mode & 0o777, 0o600)
    })
  }

  it('writes a key of a log that only its owner may read', async (t) => {
    const cli = commandLine(t)
    const file = join(cli.folder, 'log.pem')
    assert.deepEqual(await cli.json(`key generate --log --out ${file}`), { file })
    assert.equal(createPrivateKey(readFileSync(file, 'utf8')).asymmetricKeyType, 'ed25519')
    assert.equal(statSync(file).mode & 0o777, 0o600)
    const printed = await cli.run('key generate --log')
    assert.equal(createPrivateKey(printed.stdout).asymmetricKeyType, 'ed25519')
    assert.notEqual(printed.stdout, readFileSync(file, 'utf8'))
  })

  it('refuses a short key and a missing folder', async (t) => {
    const cli = commandLine(t)
    const short = refusal('--bits takes a multiple of 8 from 2048 to 8192')
    assert.deepEqual(await cli.run('key generate --bits 1024'), short)
    const nowhere = refusal('no/key: no such file or directory')
    assert.deepEqual(await cli.run('key generate --antiforgery --out no/key'), nowhere)
  })
})

describe('migrate', () => {
  it('applies each missing migration once', async (t) => {
    const cli = commandLine(t)
    const { applied } = await cli.json<{ applied: string[] }>('migrate')
    assert.equal(applied[0], '0001-first-release')
    const stdout = 'The database is up to date.\n'
    assert.deepEqual(await cli.run('migrate'), { status: 0, stdout, stderr: '' })
  })

  it('refuses a database of a newer version, like every command', async (t) => {
    const cli = commandLine(t)
    await cli.run('migrate')
    cli.exec("insert into schema_migrations values ('9999-later', '9.0.0', '')")
    const newer = refusal(
      'DATABASE_URL: the database is of a newer version of Countersign: run 9.0.0 or later, or use a backup that this version made (it has 9999-later)',
    )
    for (const command of ['migrate', 'migrate --check', 'user list']) {
      assert.deepEqual(await cli.run(command), newer)
    }
  })

  it('leaves a database of any version to be copied, and says what reads the copy', async (t) => {
    const cli = commandLine(t)
    const readOf = async (copy: string) => {
      const { oldestRelease } = await cli.json<{ oldestRelease: string | null }>(`backup ${copy}`)
      const told = await cli.json<{ oldestRelease: string | null; isServed: boolean }>(
        `version --check ${copy}`,
      )
      assert.equal(told.oldestRelease, oldestRelease)
      return [oldestRelease, told.isServed]
    }
    await cli.run('migrate')
    assert.deepEqual(await readOf('own.db'), ['1.0.0', true])
    cli.exec("insert into schema_migrations values ('9999-later', '9.0.0', '')")
    assert.deepEqual(await readOf('newer.db'), ['9.0.0', false])
    cli.exec("update schema_migrations set oldest_release = 'x' where name > '9'")
    assert.deepEqual(await readOf('unknown.db'), ['x', false])
    cli.exec('alter table schema_migrations drop column oldest_release')
    assert.deepEqual(await readOf('before.db'), [null, false])
    cli.sql((database) => {
      database.exec('drop table schema_migrations; create table schema_migrations (name, oldest_release)')
      database.prepare('insert into schema_migrations values (?, ?)').run('9\u001b[2J', '9\u009b2J\nfine')
    })
    for (const command of ['version --check test.db', 'backup hostile.db', 'restore hostile.db']) {
      const { stdout, stderr } = await cli.run(command)
      assert.match(stdout + stderr, /9\ufffd2J\ufffdfine/)
      assert.doesNotMatch(stdout + stderr, /(?!\n)\p{Cc}|^fine/mu)
    }
    const { status, stderr } = await cli.run('version --check missing.db')
    assert.deepEqual([status, stderr], [1, 'countersign: DATABASE_URL: there is no database at missing.db\n'])
  })

  it('names --dev to someone who has not said which database', async (t) => {
    const cli = commandLine(t)
    for (const command of ['user list', 'log export', 'migrate --check']) {
      const { status, stderr } = await cli.run(command, '', {})
      assert.equal(status, 1)
      assert.match(stderr, /no database at \.\/data\/countersign\.db; set DATABASE_URL, or add --dev for /)
    }
    const given = await cli.run('user list', '', { DATABASE_URL: 'file:./data/countersign.db' })
    assert.doesNotMatch(given.stderr, /--dev/)
  })

  it('says with --check what it would do, and does not do it', async (t) => {
    const cli = commandLine(t)
    cli.sql(() => undefined)
    const { pending } = await cli.json<{ pending: unknown[] }>('migrate --check')
    assert.deepEqual(pending, [
      { name: '0001-first-release', locks: [] },
      { name: '0002-company-account', locks: ['principals', 'sessions', 'session_ids'] },
    ])
    const tables = cli.column('select name from sqlite_schema')
    assert.deepEqual(tables, [])
  })

  it('refuses in one line anything that cannot be a database', async (t) => {
    const cli = commandLine(t)
    writeFileSync(join(cli.folder, 'text'), 'no database, but long enough to be read as one '.repeat(40))
    for (const [url, line] of [
      [`file:${cli.folder}`, `${cli.folder} is not a file`],
      ['file:text', 'text cannot be used: SQLite answered SQLITE_NOTADB: file is not a database'],
      ['file:', 'file: must be followed by the path of a file'],
      ['mysql://x', 'must be file:PATH (SQLite) or postgres://... (PostgreSQL)'],
    ] as const) {
      const refused = refusal(`DATABASE_URL: ${line}`)
      for (const command of ['user list', 'migrate --check']) {
        assert.deepEqual(await cli.run(command, '', { DATABASE_URL: url }), refused)
      }
    }
  })
})

describe('backup', () => {
  it('copies everything to a new file that only its owner may read', async (t) => {
    const cli = commandLine(t)
    await cli.run('user add jo@example.com --role Viewer', goodPassword)
    const file = join(cli.folder, 'copy.db')
    const { bytes } = await cli.json<{ bytes: number }>(`backup ${file}`)
    assert.equal(statSync(file).size, bytes)
    assert.equal(statSync(file).mode & 0o777, 0o600)
    const copy = new Sqlite(file)
    t.after(() => copy.close())
    assert.equal(copy.pragma('integrity_check', { simple: true }), 'ok')
    assert.deepEqual(copy.prepare('select name from principals').pluck().all(), ['jo'])
    assert.deepEqual(await cli.run(`backup ${file}`), refusal(`${file} already exists; it was not changed`))
  })

  it('refuses a missing database or folder, and creates neither', async (t) => {
    const cli = commandLine(t)
    const missing = refusal(`DATABASE_URL: there is no database at ${cli.databaseFile}`)
    assert.deepEqual(await cli.run('backup copy.db'), missing)
    assert.equal(existsSync(cli.databaseFile), false)
    await cli.run('migrate')
    assert.deepEqual(await cli.run('backup no/copy.db'), refusal('there is no folder no'))
  })
})

describe('the database of a command', () => {
  it('holds what the command wrote in the file itself, even while a service has it open', async (t) => {
    const cli = commandLine(t)
    await cli.run('migrate')
    const service = new Sqlite(cli.databaseFile)
    t.after(() => service.close())
    service.prepare('select * from roles').all()
    assert.equal((await cli.run('client add billing')).status, 0)
    assert.ok(existsSync(`${cli.databaseFile}-wal`))
    const file = join(cli.folder, 'copied.db')
    copyFileSync(cli.databaseFile, file)
    const copy = new Sqlite(file)
    t.after(() => copy.close())
    assert.deepEqual(copy.prepare('select name from principals').pluck().all(), ['billing'])
  })

  it('is an error, not a guess, if .env cannot be read', async (t) => {
    const cli = commandLine(t)
    mkdirSync(join(cli.folder, '.env'))
    assert.deepEqual(await cli.run('migrate', '', {}), refusal('.env cannot be read'))
    assert.equal(existsSync(join(cli.folder, 'data')), false)
  })

  it('comes from the environment, else from .env, else from --dev or production', async (t) => {
    const cli = commandLine(t)
    mkdirSync(join(cli.folder, 'env'))
    await Promise.all([cli.run('migrate --dev', '', {}), cli.run('migrate', '', {})])
    assert.equal(existsSync(join(cli.folder, 'data/development.db')), true)
    assert.equal(existsSync(join(cli.folder, 'data/countersign.db')), true)
    writeFileSync(join(cli.folder, '.env'), 'DATABASE_URL=file:./env/file.db\n')
    await Promise.all([cli.run('migrate', '', {}), cli.run('migrate')])
    assert.equal(existsSync(join(cli.folder, 'env/file.db')), true)
    assert.equal(existsSync(cli.databaseFile), true)
  })
})
