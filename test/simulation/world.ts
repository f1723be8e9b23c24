import assert from 'node:assert/strict'
import { readRequest } from '../../proof/add-checkpoint.ts'
import { eraOf, type SignedHead } from '../../proof/log.ts'
import { readCheckpoint, readNote } from '../../proof/note.ts'
import { sha256 as sha256OfHex } from '../../proof/sha256.ts'
import { rootsFrom } from '../../proof/tree.ts'
import { machineStamp } from '../../server/caller/stamp.ts'
import type { AppDatabase } from '../../server/db/port.ts'
import { sha256 } from '../../server/ids.ts'
import { startWitness } from '../../witness/test/running.ts'
import { startAnswering } from '../support/answering.ts'
import { hashOf } from '../support/cheap-hash.ts'
import { Client } from '../support/client.ts'
import type { TestDatabase } from '../support/database.ts'
import { logKey } from '../support/witnessed.ts'
import { SimulatedDatabase } from './database.ts'
import { type Common, Instance, readCommon } from './instance.ts'
import { Leases } from './leases.ts'
import { Letters } from './letters.ts'
import { Model, type Person } from './model.ts'
import { Receivers } from './receivers.ts'
import type { Step } from './steps.ts'
import { Task } from './task.ts'

const join = (left: string, right: string) => sha256OfHex(`01${left}${right}`)
const beginning = Date.UTC(2027, 0, 15, 9)
const password = 'quiet harbour lanterns at dusk'
const secret = 'a'.repeat(43)
/** Name, roles, and whether it is a service. */
const accounts: [string, string[], boolean?][] = [
  ['ann', ['Admin']],
  ['bob', ['Operator', 'Approver']],
  ['cat', ['Operator', 'Approver', 'Finance']],
  ['dan', ['Operator', 'Approver']],
  ['eve', ['Operator']],
  ['robot', ['Operator', 'Approver'], true],
]

let prepared: Promise<{ template: TestDatabase; people: Person[]; common: Common }> | undefined

export async function dropTemplate(): Promise<void> {
  await (await prepared)?.template.drop()
  prepared = undefined
}

async function prepare() {
  const people: Person[] = []
  const template = await SimulatedDatabase.prepare((db) => addAccounts(db, people))
  return { template, people, common: await readCommon(template.databaseUrl) }
}

async function addAccounts(db: AppDatabase, people: Person[]): Promise<void> {
  const stamp = () => machineStamp(beginning - 3_600_000)
  for (const [name, permissions] of [
    ['Approver', ['Orders.Read', 'Orders.Approve']],
    ['Finance', []],
  ] as const) {
    await db.write('addRole', { role: name, permissions: [...permissions], stamp: stamp() })
  }
  const passwordHash = await hashOf(password)
  for (const [name, roles, isService = false] of accounts) {
    const email = `${name}@example.com`
    const owner = isService ? people[1]?.id : undefined
    const { id } = (await (isService
      ? db.write('addClient', {
          clientId: name,
          secretHash: sha256(secret),
          roles,
          ownerId: owner,
          stamp: stamp(),
        } as never)
      : db.write('addUser', {
          userName: name,
          email,
          passwordHash,
          timeZone: null,
          roles,
          stamp: stamp(),
        }))) as { id: number }
    const settings = { waiting: 'never', hour: 8, decided: false, noted: false } as const
    const changed = { changedAt: beginning - 3_600_000, changedIn: 0 }
    people.push({
      id,
      name,
      email,
      isService,
      owner,
      roles: new Set(roles),
      isEnabled: true,
      settings,
      chosenAt: beginning - 3_600_000,
      formerWaits: false,
      ...changed,
    })
  }
  while ((await db.write('sealEvents', { limit: 100 })) > 0);
  // Mail is about what happens from now on.
  await db.write('queueEventMails', { nowMilliseconds: beginning })
}

/** Two instances on one database, and everything around them. */
export class World {
  readonly database: SimulatedDatabase
  readonly model: Model
  readonly receivers: Receivers
  readonly letters: Letters
  readonly leases: Leases
  readonly instances: Instance[] = []
  /** Tasks that wait for a step to resume them. */
  waiting: Task[] = []
  now = beginning
  /** The state at the backup. */
  kept: { model: ReturnType<Model['copy']>; hooks: ReturnType<Receivers['copy']> } | undefined
  isRestored = false
  readonly witnessAnswers: ('fail' | 'break' | 'take and break')[] = []
  readonly checkpoints: SignedHead[] = []
  /** How long the clock has been moved. */
  passed = 0
  reader = { place: { era: 1, sequence: 0 }, ids: [] as string[] }
  sent = 0
  #tokens = new Map<string, { token: string; until: number }>()
  /** Sign-ins refused since the last good one. */
  readonly #refused = new Map<string, number>()
  readonly #faults: unknown[] = []
  readonly #ends: (() => unknown)[] = []

  private constructor(database: SimulatedDatabase, model: Model) {
    this.database = database
    this.model = model
    this.receivers = new Receivers(model)
    this.letters = new Letters(model, () => this.now)
    this.leases = new Leases(() => this.now)
  }

  static async begin(): Promise<World> {
    prepared ??= prepare()
    const { template, people, common } = await prepared
    const database = await SimulatedDatabase.copyOf(template, beginning)
    const world = new World(database, new Model(structuredClone(people)))
    await world.#start(common)
    return world
  }

  async #start(common: Common): Promise<void> {
    const hooks = { after: (end: () => unknown) => void this.#ends.push(end) }
    await this.receivers.start(hooks)
    const list = []
    for (const _ of [1, 2]) {
      const real = await startWitness(hooks, [await logKey(1), await logKey(2)])
      real.now = this.now
      const url = await startAnswering(hooks, async (bytes, response, request) => {
        const answer = this.witnessAnswers.shift()
        if (answer === 'fail') return response.writeHead(500).end()
        if (answer === 'break') return request.socket.destroy()
        this.#asWitness(bytes.toString())
        real.now = this.now
        const { status, text } = await real.post(bytes)
        if (answer !== undefined) return request.socket.destroy()
        return response.writeHead(status).end(text)
      })
      list.push({ key: real.signer.key, url })
    }
    const around = {
      ...this,
      database: this.database,
      witnesses: { list, quorum: 1, everySeconds: 60, skipped: [] },
      now: () => this.now,
      monotonic: () => this.now,
    }
    for (const _ of [0, 1]) {
      const instance = new Instance(common, around)
      await instance.listen()
      this.instances.push(instance)
    }
    this.model.policy = [{ from: 0, ...firstRules }]
    await this.model.look(this.database.port)
    this.reader.place.sequence = this.model.log.length
    this.reader.ids = this.model.log.map(({ id }) => id)
  }

  /** No witness gets a checkpoint that the log does not have. */
  #asWitness(body: string): void {
    try {
      const { size, root, origin } = readCheckpoint(readRequest(body).note.text)
      assert.ok(size < this.model.roots.length, `a witness was sent ${size} events, which are not sealed`)
      assert.equal(
        Buffer.from(root).toString('hex'),
        this.model.roots[size],
        `a witness was sent another log: ${origin}`,
      )
    } catch (error) {
      this.#faults.push(error)
    }
  }

  instance(at: number): Instance {
    return this.instances[at] ?? assert.fail()
  }

  /** Does something at an instance, until it is done or waits for a later step. */
  async work(
    step: Step | { at: number; do: string },
    work: (instance: Instance) => Promise<unknown>,
  ): Promise<Task> {
    const instance = this.instance(step.at)
    const task = new Task(instance, step, this.database)
    await task.run(() => work(instance))
    this.#keep(task)
    return task
  }

  #keep(task: Task): void {
    if (task.isPaused) this.waiting.push(task)
    if (task.life.isOver)
      for (const instance of this.instances) if (instance.life === task.life) this.startAgain(instance)
  }

  startAgain(instance: Instance): void {
    instance.startAgain()
    this.waiting = this.waiting.filter(({ life }) => !life.isOver)
  }

  async resume(index: number): Promise<void> {
    const task = this.waiting[index % this.waiting.length]
    if (task === undefined) return
    this.waiting = this.waiting.filter((each) => each !== task)
    await task.goOn()
    this.#keep(task)
  }

  /** A caller with a token that is good for a while. */
  async caller(person: Person, at: number): Promise<Client> {
    const { baseUrl } = this.instance(at)
    const client = new Client(baseUrl)
    const known = this.#tokens.get(person.name)
    if (known !== undefined && this.now < known.until) return client.withBearer(known.token)
    const refused = this.#refused.get(person.name) ?? 0
    // After a fifth refusal the person would wait even when the account is enabled again.
    if (!person.isEnabled && refused === 4) return client
    const { status, body, text } = person.isService
      ? await client.post('/v1/auth/clients/token', { clientId: person.name, clientSecret: secret })
      : await client.post('/v1/auth/token', { email: person.email, password })
    if (status !== 200) {
      assert.ok(!person.isEnabled, `${person.name} got no token: ${text}`)
      this.#refused.set(person.name, refused + 1)
      return client
    }
    this.#refused.delete(person.name)
    this.#tokens.set(person.name, { token: body.accessToken, until: this.now + 120_000 })
    return client.withBearer(body.accessToken)
  }

  /** The account was changed by an operator. */
  changed(person: Person): void {
    Object.assign(person, { changedAt: this.now, changedIn: this.model.step })
    this.#tokens.delete(person.name)
  }

  /** Its answers show whether it only grew since the last one. */
  async keepCheckpoint(text: string, caller: Client): Promise<void> {
    const { origin, size, root } = readCheckpoint(readNote(text).text)
    const head = { era: eraOf(origin), size, root: Buffer.from(root).toString('hex') }
    assert.equal(head.era, this.model.era)
    assert.equal(head.root, this.model.roots[size], 'a checkpoint of another log')
    const last = this.checkpoints.findLast(({ era }) => era === head.era)
    this.checkpoints.push(head)
    if (last === undefined) return
    assert.ok(last.size <= size, 'a checkpoint went back')
    const { body } = await caller.get(`/v1/log/proof?from=${last.size}&size=${size}`)
    const path = body.hashes.map((hash: string) => Buffer.from(hash, 'base64').toString('hex'))
    const roots = rootsFrom(last.root, { from: last.size, size, path }, join)
    assert.deepEqual(roots, { from: last.root, size: head.root }, 'a proof of consistency')
  }

  /** All clocks go on. */
  async pass(milliseconds: number): Promise<void> {
    this.now += milliseconds
    if (milliseconds >= 1_000) this.passed += milliseconds
    await this.database.moveLeases(this.now)
  }

  /** From now on nothing fails. */
  calm(): void {
    for (const next of [...this.receivers.next, this.letters.next, this.witnessAnswers]) next.length = 0
  }

  forgetTokens(): void {
    this.#tokens.clear()
  }

  /** After each step. Throws the first fault that was found. */
  async check(): Promise<void> {
    await this.model.look(this.database.port)
    const [fault] = [this.#faults, this.receivers.faults, this.letters.faults, this.leases.faults].flat()
    if (fault !== undefined) throw fault
  }

  async close(): Promise<void> {
    for (const instance of this.instances) await instance.close()
    for (const end of this.#ends.reverse()) await end()
    await this.database.close()
  }
}

const firstRules = { approvals: 1, selfApproval: true, services: true, role: null, passkey: false }
