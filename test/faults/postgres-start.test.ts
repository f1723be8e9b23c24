// engine: PostgreSQL
import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream'
import { after, describe, it, type TestContext } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { migrateDatabase } from '../../server/db/open.ts'
import { schema } from '../../server/db/postgres/schema.ts'
import { openAppDatabase } from '../../server/operations.ts'
import { commandLine, type Result, refusal, runCommand } from '../cli/command-line.ts'
import { Client } from '../support/client.ts'
import { createTestDatabase } from '../support/database.ts'
import { connectTo, runSql, withoutPostgres } from '../support/postgres.ts'
import { versionAnswer, welcome } from '../support/postgres-messages.ts'
import type { RunningServer } from '../support/process.ts'
import { bearerOf, newProduction, sessionOf, testProduction } from '../support/production.ts'
import { type FaultProxy, startProxy } from '../support/proxy.ts'

const migrations = Object.keys(schema.migrations)

const secret = 'h0rse-battery-staple'
const serverUrl = process.env.TEST_DATABASE_URL ?? ''

describe('starting on PostgreSQL', { skip: withoutPostgres, concurrency: 2 }, () => {
  const keys = testProduction({ databaseUrl: '', accounts: false })

  /** Ends in reverse order what was begun. Each part ends even if another fails. */
  function scopeOf(t: TestContext): AsyncDisposableStack {
    const known = scopes.get(t)
    if (known) return known
    const scope = new AsyncDisposableStack()
    scopes.set(t, scope)
    t.after(() => scope.disposeAsync())
    return scope
  }
  const scopes = new WeakMap<TestContext, AsyncDisposableStack>()

  async function proxyTo(t: TestContext, databaseUrl: string): Promise<FaultProxy> {
    const proxy = await startProxy(databaseUrl)
    scopeOf(t).defer(() => proxy.close())
    return proxy
  }

  async function serve(t: TestContext, env: Record<string, string>): Promise<RunningServer> {
    const server = await keys.serve(env)
    scopeOf(t).defer(async () => void (await server.stop()))
    return server
  }

  async function emptyDatabase(t: TestContext): Promise<string> {
    const database = await createTestDatabase()
    scopeOf(t).defer(() => database.drop())
    return database.databaseUrl
  }

  /** The address with other parts. It always has a password, because the tests check that it stays secret. */
  function address(databaseUrl: string, parts: Partial<URL> = {}): string {
    return Object.assign(new URL(databaseUrl), { password: secret, ...parts }).href
  }

  /** A role that may sign in with the secret, and nothing else. */
  async function newRole(t: TestContext): Promise<string> {
    const name = `scram_${randomBytes(6).toString('hex')}`
    await runSql(serverUrl, `create role ${name} login password '${secret}'`)
    scopeOf(t).defer(async () => void (await runSql(serverUrl, `drop role ${name}`)))
    return name
  }

  const cli = commandLine({ after })
  const environmentOf = (databaseUrl: string, env: Record<string, string>) => ({
    ...keys.env,
    PORT: '0',
    DATABASE_START_TIMEOUT_SECONDS: '0',
    ...env,
    DATABASE_URL: databaseUrl,
  })
  /**
   * Runs in the process that carries out all commands of the file, for refusals before the service starts.
   */
  const startAt = (databaseUrl: string) => cli.run('serve', '', environmentOf(databaseUrl, {}))
  const startAlone = (databaseUrl: string, env: Record<string, string> = {}) =>
    runCommand('serve', '', tmpdir(), environmentOf(databaseUrl, env))

  /** Exit status 1, only this line, and no secret in it. */
  function assertRefused(result: Result, line: RegExp): void {
    assert.equal(result.status, 1, result.stderr)
    assert.match(result.stderr, line)
    assert.match(result.stderr, /^countersign: DATABASE_URL: [^\n]+\n$/)
    assert.ok(!`${result.stdout}${result.stderr}`.includes(secret))
    assert.equal(result.stdout, '')
  }

  /** A server that is not the PostgreSQL it claims to be. Resolves to its address. */
  async function impostor(t: TestContext, serve: (socket: Socket) => void): Promise<string> {
    const sockets = new Set<Socket>()
    const listener = createServer((socket) => {
      sockets.add(socket)
      socket.on('error', () => undefined)
      serve(socket)
    }).listen(0, '127.0.0.1')
    await once(listener, 'listening')
    scopeOf(t).defer(() => {
      for (const socket of sockets) socket.destroy()
      listener.close()
    })
    return `postgres://countersign:${secret}@127.0.0.1:${(listener.address() as AddressInfo).port}/orders`
  }

  describe('refuses in one line that names the setting and no secret', { concurrency: 2 }, () => {
    it('a wrong password', async (t) => {
      const role = await newRole(t)
      const url = address(serverUrl, { username: role, password: `${secret}-wrong` })
      const line = `DATABASE_URL: the password was not accepted: password authentication failed for user "${role}"`
      assert.deepEqual(await startAt(url), refusal(line))
    })

    it('a wrong password in a file; the right one is accepted', async (t) => {
      const role = await newRole(t)
      const folder = await mkdtemp(join(tmpdir(), 'countersign-password-'))
      scopeOf(t).defer(() => rm(folder, { recursive: true }))
      const file = join(folder, 'password')
      const url = Object.assign(new URL(serverUrl), { username: role, password: '' }).href
      const start = async (password: string) => {
        await writeFile(file, password, { mode: 0o600 })
        return cli.run('serve', '', environmentOf(url, { DATABASE_PASSWORD_FILE: file }))
      }
      const line = `DATABASE_URL: the password was not accepted: password authentication failed for user "${role}"`
      assert.deepEqual(await start(`${secret}-wrong`), refusal(line))
      assertRefused(await start(`${secret}\n`), /may not|permission denied/)
    })

    it('a missing password', async (t) => {
      const role = await newRole(t)
      const url = address(serverUrl, { username: role, password: '' })
      assertRefused(await startAt(url), /password must be a string/)
    })

    const scheme = `mysql://countersign:${secret}@127.0.0.1/orders`
    const certificate = `postgres://c:${secret}@127.0.0.1/o?sslrootcert=/none.pem`
    for (const [what, parts, line] of [
      [
        'a role that does not exist',
        { username: 'nobody' },
        /the role was not accepted: role "nobody" does not exist$/m,
      ],
      [
        'an unknown database',
        { pathname: '/no-such-database' },
        /there is no such database: database "no-such-database" does not exist$/m,
      ],
      [
        'an unreachable host',
        { hostname: 'nowhere.invalid' },
        /cannot be reached: the connection failed: getaddrinfo \w+ nowhere\.invalid/,
      ],
      [
        'a port on which nothing listens, by a name with several addresses',
        { hostname: 'localhost', port: '1' },
        /cannot be reached: the connection failed: .*ECONNREFUSED 127\.0\.0\.1:1/,
      ],
      ['a server without TLS where the address demands it', { search: '?sslmode=verify-full' }, /SSL/],
      ['an address of another scheme', scheme, /must be/],
      [
        'an address that is none',
        `postgres://countersign:${secret}@127.0.0.1:port/orders`,
        /not a valid URL/,
      ],
      ['an address with a certificate that is not there', certificate, /the address is not valid/],
    ] as const) {
      it(what, async () => {
        assertRefused(await startAt(typeof parts === 'string' ? parts : address(serverUrl, parts)), line)
      })
    }

    it('a server that accepts connections and says nothing', async (t) => {
      assertRefused(
        await startAlone(await impostor(t, (socket) => socket.resume())),
        /cannot be reached: .*time/,
      )
    })

    it('a server that falls silent after the sign-in, within 5 s', async (t) => {
      const url = await impostor(t, (socket) => socket.once('data', () => socket.write(welcome)))
      assertRefused(await startAlone(url), /cannot be reached: no answer within 5000 ms/)
    })

    it('a server that is too old, naming the required version', async (t) => {
      const url = await impostor(t, (socket) =>
        socket.once('data', () => {
          socket.write(welcome)
          socket.on('data', () => socket.write(versionAnswer('140017')))
        }),
      )
      const line = 'DATABASE_URL: the server is PostgreSQL 14; version 15 or newer is needed'
      assert.deepEqual(await startAt(url), refusal(line))
    })

    it('a server that speaks another protocol', async (t) => {
      const url = await impostor(t, (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
      assertRefused(await startAt(url), /./)
    })

    it('a role that may not create tables, on an empty database', async (t) => {
      const databaseUrl = await emptyDatabase(t)
      const role = await newRole(t)
      const url = address(databaseUrl, { username: role })
      const line =
        'DATABASE_URL: the role may not create tables; let its owner run `migrate` first (docs/operations.md): permission denied for schema public'
      assert.deepEqual(await startAt(url), refusal(line))
    })

    it('a database of a newer schema version', async (t) => {
      const databaseUrl = await emptyDatabase(t)
      await migrateDatabase({ databaseUrl })
      await runSql(databaseUrl, "insert into schema_migrations values ('9999-later', '9.0.0', 'now')")
      const line =
        'DATABASE_URL: the database is of a newer version of Countersign: run 9.0.0 or later, or use a backup that this version made (it has 9999-later)'
      assert.deepEqual(await startAt(address(databaseUrl)), refusal(line))
    })
  })

  describe('while the database is down', () => {
    it('waits, says so in the log without the address, and serves once it answers', async (t) => {
      const databaseUrl = await emptyDatabase(t)
      const proxy = await proxyTo(t, address(databaseUrl))
      await proxy.set('cut')
      const starting = keys.serve({ DATABASE_START_TIMEOUT_SECONDS: '120', DATABASE_URL: proxy.url })
      while (proxy.cutCount < 2) await setTimeout(25)
      await proxy.set('pass')
      const server = await starting
      scopeOf(t).defer(async () => void (await server.stop()))
      assert.equal((await new Client(server.baseUrl).get('/health/ready')).status, 200)
      const lines = server
        .output()
        .split('\n')
        .filter((line) => line.includes('does not answer yet'))
      assert.ok(lines.length >= 1)
      for (const line of lines)
        assert.match(JSON.parse(line).msg, /^DATABASE_URL: PostgreSQL does not answer yet \(.+\)/)
      assert.ok(!server.output().includes(secret))
    })

    it('gives up after DATABASE_START_TIMEOUT_SECONDS with one line and exit status 1', async (t) => {
      const proxy = await proxyTo(t, address(serverUrl))
      await proxy.set('refuse')
      const result = await startAlone(proxy.url, { DATABASE_START_TIMEOUT_SECONDS: '2' })
      assert.equal(result.status, 1)
      assert.match(result.stderr, /^countersign: DATABASE_URL: PostgreSQL cannot be reached: [^\n]+\n$/)
      assert.match(result.stdout, /does not answer yet/)
      const times = result.stdout
        .trim()
        .split('\n')
        .map((line) => Date.parse(JSON.parse(line).time))
      assert.ok(Math.max(...times) - Math.min(...times) < 2_500, result.stdout)
      assert.ok(!`${result.stdout}${result.stderr}`.includes(secret))
    })

    it('starts over if the connection is lost between the first answer and the last', async (t) => {
      const databaseUrl = await emptyDatabase(t)
      const proxy = await proxyTo(t, databaseUrl)
      proxy.cutBefore('create table if not exists schema_migrations')
      const server = await serve(t, { DATABASE_URL: proxy.url })
      assert.match(server.output(), /does not answer yet/)
      assert.equal((await new Client(server.baseUrl).get('/health/ready')).status, 200)
    })
  })

  it('listens even if the database goes away after its first answer, because readiness reports that', async (t) => {
    const proxy = await proxyTo(t, await emptyDatabase(t))
    proxy.cutBefore('select 1 from roles limit 1')
    const server = await serve(t, { DATABASE_URL: proxy.url })
    assert.equal((await new Client(server.baseUrl).get('/health/ready')).status, 200)
  })

  it('connects through a local socket, in each form that libpq accepts', async (t) => {
    const databaseUrl = await emptyDatabase(t)
    await migrateDatabase({ databaseUrl })
    const { hostname, port, pathname } = new URL(databaseUrl)
    const folder = await mkdtemp(join(tmpdir(), 'countersign-socket-'))
    scopeOf(t).defer(() => rm(folder, { recursive: true }))
    const listener = createServer((socket) => {
      const server = connect(Number(port), hostname)
      pipeline(socket, server, socket, () => undefined)
    }).listen(join(folder, '.s.PGSQL.5432'))
    scopeOf(t).defer(() => void listener.close())
    for (const url of [
      `postgres://${pathname}?host=${folder}&user=countersign`,
      `postgres://countersign@${pathname}?host=${folder}`,
      `postgres://countersign@${encodeURIComponent(folder)}${pathname}`,
    ]) {
      const { stdout, stderr } = await cli.run('role list', '', { DATABASE_URL: url })
      assert.match(stdout, /^Operator /m, `${url}: ${stderr}`)
    }
  })

  it('a role without the right to create tables serves what its owner has migrated', async (t) => {
    const databaseUrl = await emptyDatabase(t)
    const production = await newProduction({ databaseUrl })
    const role = await newRole(t)
    await runSql(
      databaseUrl,
      `grant select, insert, update, delete on all tables in schema public to ${role}`,
    )
    await runSql(databaseUrl, `grant usage on all sequences in schema public to ${role}`)
    scopeOf(t).defer(async () => void (await runSql(databaseUrl, `drop owned by ${role}`)))
    scopeOf(t).defer(() => production.remove())
    const url = address(databaseUrl, { username: role })
    await assert.rejects(runSql(url, 'create table more (id integer)'), { code: '42501' })
    const server = await production.serve({ DATABASE_URL: url })
    const bearer = await bearerOf(server.baseUrl, 'admin')
    const session = await sessionOf(server.baseUrl, 'operator')
    const key = { 'idempotency-key': randomUUID() }
    const created = await session.post('/v1/orders', { customer: 'Acme', total: 1 }, key)
    assert.equal(created.status, 201)
    assert.equal((await bearer.patch(`/v1/orders/${created.body.id}/approve`)).status, 204)
    assert.equal((await bearer.get('/v1/orders?filter=acme')).body.totalCount, 1)
    assert.equal((await session.post('/v1/auth/session/logout')).status, 204)
    assert.equal((await new Client(server.baseUrl).get('/health/ready')).status, 200)
  })

  it('a command that only reads does not migrate, and needs no right to write', async (t) => {
    const databaseUrl = await emptyDatabase(t)
    const name = new URL(databaseUrl).pathname.slice(1)
    const older = `DATABASE_URL: the database is older than this version (it lacks ${migrations.join(', ')}): back it up, then run \`migrate\``
    const run = (args: string) => cli.run(args, '', { DATABASE_URL: databaseUrl })
    assert.deepEqual(await run('role list'), refusal(older))
    assert.deepEqual(
      await runSql(databaseUrl, 'select 1 from pg_tables where schemaname = current_schema'),
      [],
    )
    await migrateDatabase({ databaseUrl })
    await runSql(databaseUrl, `alter database ${name} set default_transaction_read_only = on`)
    for (const command of ['log verify', 'user list', 'client list', 'role list', 'policy list']) {
      const { status, stderr } = await run(command)
      assert.equal(status, 0, `${command}: ${stderr}`)
    }
  })

  it('migrates without the right to create an extension, and reports at each start that an index is missing', async (t) => {
    const databaseUrl = await emptyDatabase(t)
    const role = await newRole(t)
    await runSql(databaseUrl, `grant create on schema public to ${role}`)
    scopeOf(t).defer(async () => void (await runSql(databaseUrl, `drop owned by ${role}`)))
    const noticesAt = async (url: string) => {
      const notices: string[] = []
      await migrateDatabase({ databaseUrl: url, onNotice: (message) => notices.push(message) })
      return notices
    }
    const url = address(databaseUrl, { username: role })
    for (const notices of [await noticesAt(url), await noticesAt(url)]) {
      assert.equal(notices.length, 1)
      assert.match(notices[0] ?? '', /^there is no index orders_by_trigram: .*operations\.md/)
    }
    const whole = await emptyDatabase(t)
    assert.deepEqual([...(await noticesAt(whole)), ...(await noticesAt(whole))], [])
  })

  it('migrates for as long as it takes, whatever limits the database sets for statements and locks', async (t) => {
    const databaseUrl = await emptyDatabase(t)
    const name = new URL(databaseUrl).pathname.slice(1)
    for (const limit of ['statement_timeout', 'lock_timeout']) {
      await runSql(databaseUrl, `alter database ${name} set ${limit} = '100ms'`)
    }
    const other = await connectTo(databaseUrl)
    // The lock that instances hold while they migrate.
    await other.query('set statement_timeout = 0')
    await other.query('select pg_advisory_lock(7165916604736402019)')
    const migrating = migrateDatabase({ databaseUrl })
    await setTimeout(1_000)
    await other.end()
    assert.deepEqual(await migrating, migrations)
  })

  it('four instances that open an empty database at once all start, on one schema', async (t) => {
    const databaseUrl = await emptyDatabase(t)
    const instances = await Promise.all([0, 1, 2, 3].map(() => openAppDatabase({ databaseUrl })))
    for (const instance of instances) scopeOf(t).defer(() => instance.close())
    const applied = await runSql(databaseUrl, 'select name from schema_migrations order by name')
    const [roles] = await runSql<{ count: string }>(databaseUrl, 'select count(*) from roles')
    assert.deepEqual([applied.map(({ name }) => name), roles?.count], [migrations, '3'])
  })
})
