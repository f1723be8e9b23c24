import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { verifyLog } from '../../proof/log.ts'
import { readCheckpoint, readNote } from '../../proof/note.ts'
import { machineStamp } from '../../server/caller/stamp.ts'
import { nameOfStatus, type OrderStatus } from '../../server/orders/order.ts'
import { findAttempts, findSubscription, findSubscriptions } from '../../server/outbox/store.ts'
import { assertApprovalsKept } from '../support/kept-log.ts'
import { actions, followWebhooks, read, runJob } from './actions.ts'
import type { Instance } from './instance.ts'
import type { Hook } from './receivers.ts'
import type { Step } from './steps.ts'
import { World } from './world.ts'

/** Carries out the steps, each to its end or its stop, and then lets everything come to rest. */
export async function simulate(steps: readonly Step[]): Promise<void> {
  const world = await World.begin()
  try {
    for (const step of steps) {
      world.model.step += 1
      await world.pass(1)
      await actions[step.do](world, step)
      await world.check()
      await followWebhooks(world)
    }
    await comeToRest(world)
  } finally {
    await world.close()
  }
}

/** Minutes of one pause after the other, once nothing fails any more. */
const pauses = [0, 0, 0.4, 1.2, 4, 16, 40, 120, 240, 420, 600, 720]

async function comeToRest(world: World): Promise<void> {
  world.calm()
  while (world.waiting.length > 0) {
    world.model.step += 1
    await world.resume(0)
    await world.check()
  }
  await enableAll(world)
  const since = world.now
  for (const [index, minutes] of pauses.entries()) {
    await world.pass(Math.round((minutes * 60_000) / 8_000) * 8_000)
    await round(world, index % 2)
  }
  await assertAtRest(world, since)
}

async function enableAll(world: World): Promise<void> {
  const { port } = world.database
  await followWebhooks(world)
  for (const { id } of await findSubscriptions(port.read)) {
    const changes = { url: null, events: null, enabled: true }
    await port.write('changeWebhook', { id, acceptedVersions: null, stamp: machineStamp(world.now), changes })
  }
}

/** The jobs of an instance, until nothing is left to do. */
async function round(world: World, at: number): Promise<void> {
  const works: ((instance: Instance) => Promise<unknown>)[] = [
    (instance) => untilNone(async () => (await runJob(instance, 'sealEvents', 100)) > 0),
    ({ sender }) => sender.look(),
    ({ post }) => untilNone(() => post.queueNext()),
    ({ post }) => untilNone(() => post.sendNext()),
    ({ witnessing }) => witnessing.look(),
  ]
  for (const work of works) {
    world.model.step += 1
    await world.work({ do: 'rest', at }, work)
    await world.check()
  }
}

async function untilNone(work: () => Promise<boolean>): Promise<void> {
  while (await work());
}

async function assertAtRest(world: World, since: number): Promise<void> {
  const { model, receivers, letters, database } = world
  assert.equal(model.waitingEvents, 0, 'events wait to be sealed')
  for (const hook of receivers.hooks.values()) {
    const due = receivers.due(hook)
    if (due !== undefined)
      assert.fail(`a webhook never got ${due}; its last attempts: ${await told(world, hook)}`)
  }
  const now = world.now
  const due = database.port.read.selectFrom('mails').select(['kind', 'about']).where('sent_at', 'is', null)
  assert.deepEqual(await due.where('due_at', '<=', now).execute(), [], 'mail waits')
  letters.assertComplete(since)
  await read(world)
  assert.equal(world.reader.place.sequence, Math.min(model.log.length, world.reader.ids.length))
  await database.raw(async (trx) => {
    const orders = await trx
      .selectFrom('orders')
      .select(['id', 'status', 'version', 'approvals_given'])
      .execute()
    const stored = orders.map((row) => [
      row.id,
      nameOfStatus(row.status as OrderStatus).toLowerCase(),
      row.version,
      row.approvals_given,
    ])
    const expected = [...model.orders.values()].map(({ id, status, version, approvals }) => {
      return [id, status, version, approvals.length]
    })
    assert.deepEqual(stored.sort(), expected.sort(), 'the orders')
    await assertApprovalsKept(trx)
  })
  await assertOneTree(world)
}

/** The state and the last attempts of a webhook, because a run that fails once may not fail again. */
async function told({ database, now }: World, { id }: Hook): Promise<string> {
  const known = await findSubscription(database.port.read, id, 'webhook')
  const attempts = await findAttempts(database.port.read, id)
  return JSON.stringify({ attempts: attempts.slice(0, 3), now, known })
}

/** The export is the log that every checkpoint is of, and its end is cosigned. */
async function assertOneTree(world: World): Promise<void> {
  const { model } = world
  const caller = await world.caller(model.person(model.people[0]?.id ?? null), 0)
  const cosigned = await caller.get('/v1/log/checkpoint')
  assert.equal(cosigned.status, 200, cosigned.text)
  assert.equal(readCheckpoint(readNote(cosigned.text).text).size, model.log.length, 'the end is not cosigned')
  const exported = await caller.get('/v1/log', { accept: 'application/jsonl' })
  const bytes = Readable.from([Buffer.from(exported.text)])
  const report = await verifyLog(bytes, world.checkpoints)
  assert.deepEqual([report.fault, report.head.size], [null, model.log.length])
  const left = world.checkpoints.map(({ era }) => (era === model.era ? 'agrees' : 'lost'))
  for (const [index, agreement] of report.checkpoints.entries()) {
    assert.ok(agreement === 'agrees' || agreement === left[index], 'a checkpoint disagrees')
  }
}
