import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { machineStamp } from '../../server/caller/stamp.ts'
import { newSecret, sha256 } from '../../server/ids.ts'
import { ofCurrentEpoch } from '../support/accounts.ts'
import { hashOf } from '../support/cheap-hash.ts'
import type { Answer } from '../support/client.ts'
import { assertApprovalsKept, assertLogKept, storedEvents } from '../support/kept-log.ts'
import { compareOrders, type OrderRow, orderRow } from '../support/orders.ts'
import { firstRoles } from '../support/roles.ts'
import { type Service, startService } from '../support/service.ts'
import { countedTally, keptTally } from '../support/tally.ts'
import { type Account, isGood, Model, type ModelEvent, memoryMilliseconds, type Session } from './model.ts'
import type { Outgoing, Sender } from './sender.ts'

/** Longer lists would make every run slow and find nothing more. */
const ordersLimit = 600

/** Two instances of the service on one database, whose clock moves only on command. */
export class World {
  readonly service: Service
  readonly #instances: Service[]
  readonly #sender: Sender

  private constructor(service: Service, instances: Service[], sender: Sender) {
    this.service = service
    this.#instances = instances
    this.#sender = sender
  }

  static async start(sender: Sender): Promise<World> {
    const env = {
      RATE_LIMIT_FACTOR: '1000000',
      LOG_LEVEL: 'warn',
      // So short that a sequence outlives each of them now and then.
      SESSION_ABSOLUTE_TTL_SECONDS: '3600',
      REFRESH_TOKEN_IDLE_TTL_SECONDS: '7200',
      REFRESH_TOKEN_FAMILY_TTL_SECONDS: '10800',
    }
    const service = await startService({ env })
    return new World(service, [await startService({ instanceOf: service })], sender)
  }

  get now(): number {
    return this.service.now()
  }

  async close(): Promise<void> {
    for (const instance of this.#instances) await instance.close()
    await this.service.close()
  }

  send(instance: number, outgoing: Outgoing): Promise<Answer> {
    const baseUrls = [this.service.baseUrl, ...this.#instances.map(({ baseUrl }) => baseUrl)]
    return this.#sender.send(baseUrls[instance % baseUrls.length] ?? '', outgoing)
  }

  /** Begins with accounts that have no credentials yet, the first roles, and the existing orders. */
  async newModel(): Promise<Model> {
    const { db } = this.service
    for (const [role, permissions] of Object.entries(firstRoles)) {
      const stamp = () => machineStamp(this.now)
      await db.write('allowPermissions', { role, permissions, stamp: stamp() })
      const others = firstRoles.Admin.filter((permission) => !permissions.includes(permission))
      if (others.length > 0) await db.write('denyPermissions', { role, permissions: others, stamp: stamp() })
    }
    this.service.advance(memoryMilliseconds)
    const model = new Model()
    model.changeRoleTable(
      Object.fromEntries(Object.entries(firstRoles).map(([role, all]) => [role, [...all]])),
      this.now,
    )
    await db.write('setApprovalPolicy', {
      rows: model.policy,
      acceptedVersions: null,
      stamp: machineStamp(this.now),
      idempotency: null,
    })
    for (const row of await this.#orders()) model.orders.set(row.id, row)
    for (const [id, events] of await this.#events()) model.events.set(id, events)
    for (const roles of [['Admin'], ['Operator'], ['Admin', 'Viewer']])
      model.accounts.push(await this.#addUser(roles))
    model.accounts.push(await this.#addClient(['Operator']))
    const clients = await db.read.selectFrom('clients').select('principal_id').execute()
    for (const { principal_id: id } of clients) model.clientIds.add(id)
    return model
  }

  #orders(): Promise<OrderRow[]> {
    const columns = Object.keys(orderRow()) as (keyof OrderRow)[]
    const { read } = this.service.db
    return read.selectFrom('orders').select(columns).orderBy('created_at').orderBy('id').execute()
  }

  async #events(): Promise<Map<string, ModelEvent[]>> {
    const events = (await storedEvents(this.service.db.read)).filter(
      ({ subject_kind: kind }) => kind === 'order',
    )
    const byOrder = Map.groupBy(events, ({ subject_id: id }) => id)
    return new Map(
      [...byOrder].map(([id, own]) => [
        id,
        own.map(({ kind, version, at, at_time_zone: zone, by, by_id: byId, text }) => {
          return { kind, version: version ?? 0, at, zone: zone ?? '', by, byId: byId ?? 0, text }
        }),
      ]),
    )
  }

  /** Whether to continue on a fresh database, because there are many orders. */
  isFull(model: Model): boolean {
    return model.orders.size > ordersLimit
  }

  async #addUser(roles: string[]): Promise<Account> {
    const name = `user-${randomBytes(6).toString('hex')}`
    const account = { ...newAccount('user', name, roles), email: `${name}@example.com`, password: 'first' }
    const passwordHash = await hashOf(account.password)
    const { email } = account
    const input = {
      userName: name,
      email,
      passwordHash,
      timeZone: null,
      roles,
      stamp: machineStamp(this.now),
    }
    const added = await this.service.db.write('addUser', input)
    assert.ok('id' in added)
    return { ...account, id: added.id }
  }

  async #addClient(roles: string[]): Promise<Account> {
    const name = `client-${randomBytes(6).toString('hex')}`
    const secret = newSecret()
    const input = { clientId: name, secretHash: sha256(secret), roles, stamp: machineStamp(this.now) }
    const added = await this.service.db.write('addClient', input)
    assert.ok('id' in added)
    return { ...newAccount('client', name, roles), id: added.id, secrets: [secret] }
  }

  /**
   * The last use of a session is written after the answer: waits until it is there, or the session is gone.
   */
  async settle(session: Session): Promise<void> {
    if (session.lastSeen !== this.now) return
    const [id = ''] = session.ids.keys()
    for (let turn = 0; turn < 10_000; turn += 1) {
      const row = await this.service.db.read
        .selectFrom('sessions')
        .innerJoin('session_ids', 'session_ids.session_id', 'sessions.id')
        .select('last_seen_at')
        .where('id_hash', '=', sha256(id))
        .executeTakeFirst()
      if (row === undefined || row.last_seen_at >= session.lastSeen) return
      await setImmediate()
    }
    assert.fail('the last use of a session was not written')
  }

  /** The database holds what the model does: orders, their tally and log, sessions, families. */
  async assertStored(model: Model): Promise<void> {
    const { read } = this.service.db
    const expected = [...model.orders.values()].sort(compareOrders('createdAtUtc', 'Asc'))
    assert.deepEqual(await this.#orders(), expected)
    assert.deepEqual(await keptTally(read), countedTally(expected))
    assert.deepEqual(await this.#events(), model.events)
    await assertLogKept(read)
    await assertApprovalsKept(read)
    const principals = model.accounts.map(({ id }) => id)
    const sessions = await ofCurrentEpoch(this.service.db, 'sessions', principals)
    assert.equal(sessions.length, model.sessions.size)
    const families = await ofCurrentEpoch(this.service.db, 'refresh_families', principals)
    const serving = await read
      .selectFrom('refresh_families')
      .select('id')
      .where('token_expires_at', '>', this.now)
      .execute()
    const good = model.refreshTokens.filter((token) => isGood(token, this.now))
    assert.equal(serving.filter(({ id }) => families.includes(id)).length, good.length)
    const failures = (await this.service.log()).filter(({ level }) => Number(level) >= 50)
    assert.deepEqual(failures, [])
  }
}

function newAccount(kind: Account['kind'], name: string, roles: string[]): Account {
  const failedLogins = { count: 0, last: 0, blockedUntil: 0 }
  return {
    kind,
    id: 0,
    name,
    email: '',
    password: '',
    secrets: [],
    enabled: true,
    roles,
    changes: [],
    failedLogins,
  }
}
