// engine: PostgreSQL
import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream'
import { after, before, describe, it, type TestContext } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { migrateDatabase } from '../../server/db/open.ts'
import { openAppDatabase } from '../../server/operations.ts'
import { commandLine, type Result, refusal, runCommand } from '../cli/command-line.ts'
import { Client } from '../support/client.ts'
import { createTestDatabase } from '../support/database.ts'
import { connectTo, runSql, withoutPostgres } from '../support/postgres.ts'
import { versionAnswer, welcome } from '../support/postgres-messages.ts'
import { bearerOf, newProduction, type Production, sessionOf } from '../support/production.ts'
import { startProxy } from '../support/proxy.ts'

const secret = 'h0rse-battery-staple'
const serverUrl = process.env.TEST_DATABASE_URL ?? ''

describe('starting on PostgreSQL', { skip: withoutPostgres, concurrency: 2 }, () => {
  let keys: Production
  before(async () => {
    keys = await newProduction({ databaseUrl: '', accounts: false })
  })
  after(() => keys.remove())

  /** Ends in reverse order what was begun, each part even if another fails. */
  function scopeOf(t: TestContext): AsyncDisposableStack {
    const scope = new AsyncDisposableStack()
    t.after(() => scope.disposeAsync())
    return scope
  }

  async function emptyDatabase(scope: AsyncDisposableStack): Promise<string> {
    const database = await createTestDatabase()
    scope.defer(() => database.drop())
    return database.databaseUrl
  }

  /** The address with other parts. A password is always there, because it must stay secret. */
  function address(databaseUrl: string, parts: Partial<URL> = {}): string {
    return Object.assign(new URL(databaseUrl), { password: secret, ...parts }).href
  }

  /** A role that may sign in with the secret, and nothing else. */
  async function newRole(scope: AsyncDisposableStack): Promise<string> {
    const name = `scram_${randomBytes(6).toString('hex')}`
    await runSql(serverUrl, `create role ${name} login password '${secret}'`)
    scope.defer(async () => void (await runSql(serverUrl, `drop role ${name}`)))
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

  /** A server that is not the PostgreSQL it should be. Resolves with its address. */
  async function impostor(scope: AsyncDisposableStack, serve: (socket: Socket) => void): Promise<string> {
    const sockets = new Set<Socket>()
    const listener = createServer((socket) => {
      sockets.add(socket)
      socket.on('error', () => undefined)
      serve(socket)
    }).listen(0, '127.0.0.1')
    await once(listener, 'listening')
    scope.defer(() => {
      for (const socket of sockets) socket.destroy()
      listener.close()
    })
    return `postgres://countersign:${secret}@127.0.0.1:${(listener.address() as AddressInfo).port}/orders`
  }

  describe('refuses in one line that names the setting and no secret', { concurrency: 2 }, () => {
    it('a wrong password', async (t) => {
      const scope = scopeOf(t)
      const role = await newRole(scope)
      const url = address(serverUrl, { username: role, password: `${secret}-wrong` })
      const line = `DATABASE_URL: the password was not accepted: password authentication failed for user "${role}"`
      assert.deepEqual(await startAt(url), refusal(line))
    })

    it('a missing password', async (t) => {
      const scope = scopeOf(t)
      const role = await newRole(scope)
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
      const scope = scopeOf(t)
      assertRefused(
        await startAlone(await impostor(scope, (socket) => socket.resume())),
        /cannot be reached: .*time/,
      )
    })

    it('a server that falls silent after the sign-in, within 5 s', async (t) => {
      const scope = scopeOf(t)
      const url = await impostor(scope, (socket) => socket.once('data', () => socket.write(welcome)))
      assertRefused(await startAlone(url), /cannot be reached: no answer within 5000 ms/)
    })

    it('a server that is too old, naming the required version', async (t) => {
      const scope = scopeOf(t)
      const url = await impostor(scope, (socket) =>
        socket.once('data', () => {
          socket.write(welcome)
          socket.on('data', () => socket.write(versionAnswer('140017')))
        }),
      )
      const line = 'DATABASE_URL: the server is PostgreSQL 14; version 15 or newer is needed'
      assert.deepEqual(await startAt(url), refusal(line))
    })

    it('a server that speaks something else', async (t) => {
      const scope = scopeOf(t)
      const url = await impostor(scope, (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
      assertRefused(await startAt(url), /./)
    })

    it('a role that may not create tables, on an empty database', async (t) => {
      const scope = scopeOf(t)
      const databaseUrl = await emptyDatabase(scope)
      const role = await newRole(scope)
      const url = address(databaseUrl, { username: role })
      const line =
        'DATABASE_URL: the role may not create tables; let its owner run `migrate` first (docs/operations.md): permission denied for schema public'
      assert.deepEqual(await startAt(url), refusal(line))
    })

    it('a database of a newer schema version', async (t) => {
      const scope = scopeOf(t)
      const databaseUrl = await emptyDatabase(scope)
      await migrateDatabase({ databaseUrl })
      await runSql(databaseUrl, "insert into schema_migrations values ('9999-later', 'now')")
      const line =
        'DATABASE_URL: the database belongs to another version of Countersign, newer than this one or from before its first release (it has 9999-later)'
      assert.deepEqual(await startAt(address(databaseUrl)), refusal(line))
    })
  })

  describe('while the database is down', () => {
    it('waits, says so in the log without the address, and serves once it answers', async (t) => {
      const scope = scopeOf(t)
      const databaseUrl = await emptyDatabase(scope)
      const proxy = await startProxy(address(databaseUrl))
      scope.defer(() => proxy.close())
      await proxy.set('cut')
      const starting = keys.serve({ DATABASE_START_TIMEOUT_SECONDS: '120', DATABASE_URL: proxy.url })
      while (proxy.cutCount < 2) await setTimeout(25)
      await proxy.set('pass')
      const server = await starting
      scope.defer(async () => void (await server.stop()))
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
      const scope = scopeOf(t)
      const proxy = await startProxy(address(serverUrl))
      scope.defer(() => proxy.close())
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

    it('starts over when the connection is lost between the first answer and the last', async (t) => {
      const scope = scopeOf(t)
      const databaseUrl = await emptyDatabase(scope)
      const proxy = await startProxy(databaseUrl)
      scope.defer(() => proxy.close())
      proxy.cutBefore('create table if not exists schema_migrations')
      const server = await keys.serve({ DATABASE_URL: proxy.url })
      scope.defer(async () => void (await server.stop()))
      assert.match(server.output(), /does not answer yet/)
      assert.equal((await new Client(server.baseUrl).get('/health/ready')).status, 200)
    })
  })

  it('listens even if the database goes away after its first answer, because readiness reports that', async (t) => {
    const scope = scopeOf(t)
    const proxy = await startProxy(await emptyDatabase(scope))
    scope.defer(() => proxy.close())
    proxy.cutBefore('select 1 from roles limit 1')
    const server = await keys.serve({ DATABASE_URL: proxy.url })
    scope.defer(async () => void (await server.stop()))
    assert.equal((await new Client(server.baseUrl).get('/health/ready')).status, 200)
  })

  it('is reached by a local socket, in each form that libpq takes', async (t) => {
    const scope = scopeOf(t)
    const { hostname, port, pathname } = new URL(await emptyDatabase(scope))
    const folder = await mkdtemp(join(tmpdir(), 'countersign-socket-'))
    scope.defer(() => rm(folder, { recursive: true }))
    const listener = createServer((socket) => {
      const server = connect(Number(port), hostname)
      pipeline(socket, server, socket, () => undefined)
    }).listen(join(folder, '.s.PGSQL.5432'))
    scope.defer(() => void listener.close())
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
    const scope = scopeOf(t)
    const databaseUrl = await emptyDatabase(scope)
    const production = await newProduction({ databaseUrl })
    const role = await newRole(scope)
    await runSql(
      databaseUrl,
      `grant select, insert, update, delete on all tables in schema public to ${role}`,
    )
    await runSql(databaseUrl, `grant usage on all sequences in schema public to ${role}`)
    scope.defer(async () => void (await runSql(databaseUrl, `drop owned by ${role}`)))
    scope.defer(() => production.remove())
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

  it('migrates for as long as it takes, whatever limits the database sets for statements and locks', async (t) => {
    const scope = scopeOf(t)
    const databaseUrl = await emptyDatabase(scope)
    const name = new URL(databaseUrl).pathname.slice(1)
    for (const limit of ['statement_timeout', 'lock_timeout']) {
      await runSql(databaseUrl, `alter database ${name} set ${limit} = '100ms'`)
    }
    const other = await connectTo(databaseUrl)
    // The lock under which instances migrate.
    await other.query('set statement_timeout = 0')
    await other.query('select pg_advisory_lock(7165916604736402019)')
    const migrating = migrateDatabase({ databaseUrl })
    await setTimeout(1_000)
    await other.end()
    assert.equal((await migrating).length, 1)
  })

  it('four instances that open an empty database at once all start, on one schema', async (t) => {
    const scope = scopeOf(t)
    const databaseUrl = await emptyDatabase(scope)
    const instances = await Promise.all([0, 1, 2, 3].map(() => openAppDatabase({ databaseUrl })))
    for (const instance of instances) scope.defer(() => instance.close())
    const applied = await runSql(databaseUrl, 'select name from schema_migrations')
    const [roles] = await runSql<{ count: string }>(databaseUrl, 'select count(*) from roles')
    assert.deepEqual([applied, roles?.count], [[{ name: '0001-schema' }], '3'])
  })
})
