import assert from 'node:assert/strict'
import { readOn } from '../../server/audit/audit.ts'
import { machineStamp } from '../../server/caller/stamp.ts'
import { newOrderedId } from '../../server/ids.ts'
import { countWaiting } from '../../server/mail/mail.ts'
import { jobs } from '../../server/operations.ts'
import { findSubscriptions } from '../../server/outbox/store.ts'
import { stampBy } from '../support/accounts.ts'
import type { Instance } from './instance.ts'
import { mailAnswers } from './letters.ts'
import type { Person, RequestKind, Row, Try, Wish } from './model.ts'
import { answers } from './receivers.ts'
import type { Step, StepName } from './steps.ts'
import { Task } from './task.ts'
import type { World } from './world.ts'

/** Every lease ends well before or after one of these, so the machine's speed decides nothing. */
const tick = 8_000
/** Together less than a day: older events are not mailed, and older keys forgotten. */
const longestMilliseconds = 20 * 3_600_000
const zone = 'Europe/Berlin'

const oneOf = <T>(all: readonly T[], n: number): T | undefined => all[n % all.length]

/** Sends a request, perhaps not for the first time. */
async function ask(world: World, step: Step, wish: Wish): Promise<void> {
  const { model } = world
  const caller = await world.caller(wish.by, step.at)
  const number = ++world.sent
  const [method, path, body] = {
    create: ['POST', '/v1/orders', { customer: wish.about, total: String(wish.total) }] as const,
    approve: ['PATCH', `/v1/orders/${wish.about}/approve`, undefined] as const,
    reject: ['PATCH', `/v1/orders/${wish.about}/reject`, { reason: wish.text }] as const,
    withdraw: ['PATCH', `/v1/orders/${wish.about}/withdraw`, undefined] as const,
    note: ['POST', `/v1/orders/${wish.about}/notes`, { text: wish.text }] as const,
  }[wish.kind]
  await world.work(step, async (instance) => {
    const { current } = Task
    const task = current ?? assert.fail()
    const made: Try = { wish, task, begunIn: model.step }
    model.tries.push(made)
    const headers = {
      'time-zone': zone,
      ...(wish.key === null ? {} : { 'idempotency-key': wish.key }),
      ...instance.headerOf(task, number),
    }
    made.answer = await caller.send(method, path, body, headers)
  })
}

function request(kind: RequestKind) {
  return async (world: World, step: Step) => {
    const [who, what, how] = step.n
    const { model } = world
    const order = oneOf([...model.orders.values()], what)
    if (kind !== 'create' && order === undefined) return
    const people = kind === 'create' ? model.people.filter(({ name }) => name !== 'ann') : model.people
    const by =
      kind === 'withdraw'
        ? model.people.find(({ id }) => id === order?.creators[0])
        : (oneOf(people, who) as Person)
    const number = model.step
    const wish: Wish = {
      kind,
      by: by ?? assert.fail(),
      about: kind === 'create' ? `C${number}` : (order?.id ?? ''),
      text: kind === 'note' || kind === 'reject' ? `T${number}` : null,
      key: how % 3 === 0 ? null : `K${number}`,
      total: [10, 50, 100, 500][how % 4] ?? 10,
    }
    if (wish.key !== null) model.wishes.push(wish)
    await ask(world, step, wish)
  }
}

/** The newest matter most: what is retried is retried soon. */
async function repeat(world: World, step: Step): Promise<void> {
  const wishes = world.model.wishes.slice(-12).filter(({ by }) => by.isEnabled)
  const wish = oneOf(wishes, step.n[0])
  if (wish !== undefined) await ask(world, step, wish)
}

/** Work that an instance does not begin again while it waits. */
const job =
  (work: (instance: Instance, step: Step) => Promise<unknown>) => async (world: World, step: Step) => {
    const { life } = world.instance(step.at)
    const isBegun = world.waiting.some(
      (task) => task.life === life && task.name === step.do && task.isRunning,
    )
    if (!isBegun) await world.work(step, (instance) => work(instance, step))
  }

const lonely = jobs.filter(({ isAlone }) => isAlone)

export async function runJob(instance: Instance, name: string, limit: number): Promise<number> {
  const { life, db } = instance
  const term = life.terms.get(name) ?? null
  const input = { name, term, beforeMilliseconds: instance.clock() - 2 * longestMilliseconds, limit }
  const result = await db.write('runJob', input)
  life.terms.set(name, result.term)
  return result.done
}

/** Changes a webhook. Afterwards the database says what became of it. */
async function webhook(world: World, step: Step): Promise<void> {
  const [what, which, how] = step.n
  const { receivers, model } = world
  const hook = oneOf([...receivers.hooks.values()], which)
  const stamp = machineStamp(world.now)
  const events =
    [['order'], ['order', 'account'], ['order.created', 'order.approved', 'webhook']][how % 3] ?? []
  const changes = { url: null, events: null, enabled: null }
  await world.work(step, async ({ db }) => {
    if (hook === undefined || (what % 6 === 0 && receivers.hooks.size < 4)) {
      const url = receivers.urls[which % 2] ?? ''
      await db.write('addWebhook', { id: newOrderedId(world.now), url, events, enabled: true, stamp })
    } else if (what % 6 === 1) {
      await db.write('removeWebhook', { id: hook.id, stamp })
    } else if (what % 6 === 2) {
      hook.isReplayed = true
      const from = 1 + (how % (model.log.length + 1))
      await db.write('replayWebhook', { id: hook.id, from, stamp })
    } else {
      const enabled = what % 2 === 0
      await db.write('changeWebhook', {
        id: hook.id,
        acceptedVersions: null,
        stamp,
        changes: { ...changes, enabled },
      })
    }
  })
}

/** The database says what became of webhooks that were added, removed or replayed. */
export async function followWebhooks({ database, receivers }: World): Promise<void> {
  const rows = await findSubscriptions(database.port.read)
  for (const id of receivers.hooks.keys()) if (!rows.some((row) => row.id === id)) receivers.hooks.delete(id)
  for (const { id, events, place, version } of rows) {
    const known = receivers.hooks.get(id)
    const fresh = {
      id,
      version,
      events: [...events],
      place: place.sequence,
      taken: new Map(),
      isReplayed: false,
      late: known === undefined ? 0 : (receivers.due(known) ?? known.place),
    }
    if (known === undefined) receivers.hooks.set(id, fresh)
    else if (version !== known.version) {
      Object.assign(known, place.sequence < known.place || known.isReplayed ? fresh : { version })
    }
  }
}

async function policy(world: World, { n: [first, second, from] }: Step): Promise<void> {
  const row = (n: number): Omit<Row, 'from'> => ({
    approvals: 1 + (n % 3 === 0 ? 1 : 0),
    selfApproval: n % 2 === 0,
    services: n % 5 < 3,
    role: n % 7 === 0 ? 'Finance' : null,
    passkey: false,
  })
  const rows = [{ from: 0, ...row(first) }, ...(from % 2 === 0 ? [{ from: 100, ...row(second) }] : [])]
  const inUnits = rows.map((each) => ({ ...each, from: each.from * 10_000 }))
  const stamp = machineStamp(world.now)
  await world.database.port.write('setApprovalPolicy', {
    ...{ rows: inUnits, acceptedVersions: null, stamp, idempotency: null },
  })
  world.model.policy = rows
}

const humans = ({ model }: World) =>
  model.people.filter(({ isService, name }) => !isService && name !== 'ann')

async function absence(world: World, { n: [who, whom, long] }: Step): Promise<void> {
  const person = oneOf(humans(world), who) ?? assert.fail()
  const deputy =
    oneOf(
      world.model.people.filter(({ isService }) => !isService),
      whom,
    ) ?? assert.fail()
  const { port } = world.database
  const of = { person: { id: person.id, name: person.name }, stamp: machineStamp(world.now) }
  const mayBe = deputy !== person && deputy.isEnabled && world.letters.isReader(deputy)
  await port.write('endAbsence', of)
  person.absence = undefined
  if (mayBe && long % 4 > 0) {
    const [from, until] = [world.now, world.now + tick * (1 + (long % 90))]
    await port.write('setAbsence', {
      ...{ person: of.person, absence: { from, until, deputyId: deputy.id }, stamp: machineStamp(world.now) },
    })
    person.absence = { deputy: deputy.id, from, until }
  }
  for (const each of [person, deputy]) Object.assign(each, { changedIn: world.model.step })
}

async function roles(world: World, { n: [who, which, how] }: Step): Promise<void> {
  const person =
    oneOf(
      world.model.people.filter(({ name }) => name !== 'ann'),
      who,
    ) ?? assert.fail()
  const role = which % 2 === 0 ? 'Approver' : 'Finance'
  const account = { kind: person.isService ? 'client' : 'user', name: person.name } as const
  const write = how % 2 === 0 ? 'grantRoles' : 'revokeRoles'
  await world.database.port.write(write, { account, roles: [role], stamp: machineStamp(world.now) })
  if (how % 2 === 0) person.roles.add(role)
  else person.roles.delete(role)
  world.changed(person)
}

async function settings(world: World, { n: [who, waiting, hour] }: Step): Promise<void> {
  const person =
    oneOf(
      world.model.people.filter(({ isService }) => !isService),
      who,
    ) ?? assert.fail()
  if (!person.isEnabled) return
  const { port } = world.database
  const stamp = await stampBy({ db: port, now: () => world.now }, {
    ...person,
    userName: person.name,
  } as never)
  const wanted = {
    waiting: (['at-once', 'daily', 'at-once', 'never'] as const)[waiting % 4] ?? 'never',
    hour: hour % 24,
    decided: hour % 3 > 0,
    noted: false,
  }
  const formerWaits = (await countWaiting(port.read, { kind: 'digest', recipient: String(person.id) })) > 0
  await port.write('putMailSettings', { settings: wanted, timeZone: zone, stamp })
  person.settings = wanted
  Object.assign(person, { chosenAt: world.now, formerWaits, changedIn: world.model.step })
}

async function enable(world: World, { n: [who, how] }: Step): Promise<void> {
  const person = oneOf(humans(world), who) ?? assert.fail()
  const enabled = how % 3 > 0
  const account = { kind: 'user', name: person.name } as const
  await world.database.port.write('setAccountEnabled', { account, enabled, stamp: machineStamp(world.now) })
  if (person.isEnabled === enabled) return
  person.isEnabled = enabled
  world.changed(person)
}

/** A reader with a place reads on: after a restore from the last line that is left. */
export async function read({ database, reader, model }: World): Promise<void> {
  const { from, events, reached } = await readOn(database.port.read, reader.place)
  reader.ids.splice(from.sequence)
  reader.ids.push(...events.map(({ id }) => id))
  reader.place = reached
  const expected = model.log.slice(0, reached.sequence).map(({ id }) => id)
  assert.deepEqual(reader.ids, expected, 'a reader with a place has another log')
}

async function checkpoint(world: World, { at }: Pick<Step, 'at'>): Promise<void> {
  const caller = await world.caller(world.model.people[0] ?? assert.fail(), at)
  const { status, text } = await caller.get('/v1/log/checkpoint?latest=true')
  assert.equal(status, 200, text)
  await world.keepCheckpoint(text, caller)
}

/** One commit is late: another event is sealed before it. */
async function lateCommit(world: World, step: Step): Promise<void> {
  const order = oneOf([...world.model.orders.values()], step.n[1])
  if (order === undefined) return
  const { stop: _, ...calm } = step
  await world.database.late(
    order.id,
    () => note(world, calm, order.id),
    async () => {
      await request('create')(world, { ...calm, n: [step.n[0], 0, 0] })
      await world.database.port.write('sealEvents', { limit: 100 })
    },
  )
}

async function note(world: World, step: Step, about: string): Promise<void> {
  const by = world.model.people[0] ?? assert.fail()
  const wish: Wish = { kind: 'note', by, about, text: `L${world.model.step}`, key: null, total: 0 }
  await ask(world, step, wish)
}

async function backUp(world: World): Promise<void> {
  if (world.isRestored) return
  await whileStopped(world, () => world.database.backUp())
  world.kept = { model: world.model.copy(), hooks: world.receivers.copy() }
}

async function restore(world: World): Promise<void> {
  if (world.kept === undefined || world.isRestored) return
  const { model, receivers, letters, leases, kept } = world
  await read(world)
  const left = await whileStopped(world, () => world.database.restore(world.now))
  assert.equal(left, kept.model.log.length)
  world.isRestored = true
  model.goBack(kept.model)
  letters.goBack()
  leases.forget()
  receivers.goBack(kept.hooks)
  world.forgetTokens()
  for (const person of model.people) person.changedAt = world.now
  await followWebhooks(world)
}

async function whileStopped<T>(world: World, work: () => Promise<T>): Promise<T> {
  for (const instance of world.instances) await instance.close()
  const result = await work()
  for (const instance of world.instances) {
    world.startAgain(instance)
    await instance.listen()
  }
  return result
}

export const actions: Record<StepName, (world: World, step: Step) => Promise<unknown>> = {
  create: request('create'),
  approve: request('approve'),
  reject: request('reject'),
  withdraw: request('withdraw'),
  note: request('note'),
  repeat,
  seal: job((instance, { n }) => runJob(instance, 'sealEvents', n[0] % 3 === 0 ? 2 : 100)),
  send: job(({ sender }) => sender.look()),
  queueMail: job(({ post }) => post.queueNext()),
  sendMail: job(({ post }) => post.sendNext()),
  witness: job(({ witnessing }) => witnessing.look()),
  upkeep: job((instance, { n }) => runJob(instance, oneOf(lonely, n[0])?.name ?? '', 2)),
  resume: async (world, { n }) => world.resume(n[0]),
  async pass(world, { n: [short, which] }) {
    const ticks = [1, 1, 2, 3, 8, 8, 40, 450, 1350][which % 9] ?? 1
    const passed = Math.min(ticks + (short % 2), (longestMilliseconds - world.passed) / tick) * tick
    if (passed > 0) await world.pass(Math.floor(passed / tick) * tick)
  },
  async setClock(world, { at, n }) {
    world.instance(at).ahead = n[0] % 60_000
  },
  async end(world, step) {
    const { stop: _, ...calm } = step
    const { life } = world.instance(step.at)
    const sends = world.waiting.filter((task) => task.life === life && task.name === 'send')
    await world.work(calm, async ({ sender }) => {
      const stopped = sender.stop()
      // It waits for the answer to a question about its lease.
      for (const task of sends) await task.goOn()
      await stopped
    })
    if (world.instance(step.at).life === life) world.startAgain(world.instance(step.at))
  },
  async kill(world, { at }) {
    world.startAgain(world.instance(at))
  },
  async receiver({ receivers }, { n: [which, ...how] }) {
    for (const n of how) receivers.next[which % 2]?.push(oneOf(answers, n) ?? 'take')
  },
  async mailServer({ letters }, { n }) {
    letters.next.push(oneOf(mailAnswers, n[0]) ?? 'refuse')
  },
  async witnessAnswers({ witnessAnswers }, { n }) {
    witnessAnswers.push((['fail', 'break', 'take and break'] as const)[n[0] % 3] ?? 'fail')
  },
  webhook,
  policy,
  absence,
  roles,
  settings,
  enable,
  read,
  checkpoint,
  lateCommit,
  backUp,
  restore,
}
