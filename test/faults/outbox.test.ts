// engine: both
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { describe, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { endOfLog } from '../../server/audit/audit.ts'
import { machineStamp } from '../../server/caller/stamp.ts'
import { newOrderedId } from '../../server/ids.ts'
import { openAppDatabase } from '../../server/operations.ts'
import { testEngine } from '../support/database.ts'
import { isLong, randomOf } from '../support/faults.ts'
import { addEvents } from '../support/log.ts'
import { newProduction } from '../support/production.ts'
import { startReceiver, toReceivers } from '../support/webhooks.ts'

const instance = fileURLToPath(new URL('../support/outbox-instance.ts', import.meta.url))
const [events, kills] = isLong ? [10_000, 20] : [160, 4]
/** Embedded SQLite serves one process. */
const instances = testEngine === 'postgres' ? 2 : 1

describe('a receiver that fails half of the time, while the senders are killed', () => {
  it('gets every event in order, and none before the one before it was taken', async (t) => {
    const production = await newProduction()
    t.after(() => production.remove())
    const env = { ...process.env, ...production.env, ...toReceivers }
    const receiver = await startReceiver(t)
    const random = randomOf('receiver')
    const db = await openAppDatabase(production)
    t.after(() => db.close())
    await addEvents({ db, databaseUrl: production.databaseUrl }, 1, 0)
    // The event of the webhook itself lies between.
    const first = (await endOfLog(db.read)).sequence + 2
    const settings = { url: receiver.url, events: ['order'], enabled: true }
    const id = newOrderedId(Date.now())
    await db.write('addWebhook', { id, ...settings, stamp: machineStamp(Date.now()) })
    await addEvents({ db, databaseUrl: production.databaseUrl }, events, 0)

    /** The sequences that the receiver has taken, and the ids of their messages. */
    const taken = new Set<number>()
    const idOf = new Map<number, string>()
    let next = first
    const early: number[] = []
    let repeats = 0
    receiver.answer = ({ sequence = 0, headers }, response) => {
      const webhookId = headers['webhook-id'] ?? ''
      assert.equal(idOf.get(sequence) ?? webhookId, webhookId)
      idOf.set(sequence, webhookId)
      if (sequence > next) early.push(sequence)
      if (random() < 0.5) return response.writeHead(500).end()
      if (taken.has(sequence)) repeats += 1
      taken.add(sequence)
      if (sequence === next) next += 1
      response.writeHead(204).end()
      return undefined
    }

    const running: ChildProcess[] = []
    const start = (place: number) => {
      running[place] = spawn(process.execPath, [instance], { env, stdio: ['ignore', 'inherit', 'pipe'] })
    }
    t.after(() => running.map((child) => child.kill('SIGKILL')))
    for (let place = 0; place < instances; place += 1) start(place)
    const isTaken = (count: number) => taken.size >= count || early.length > 0
    for (let kill = 0; kill < kills; kill += 1) {
      while (!isTaken(((kill + 1) * events) / (kills + 1))) await wait(5)
      running[kill % instances]?.kill('SIGKILL')
      start(kill % instances)
    }
    while (!isTaken(events)) await wait(20)
    assert.deepEqual(early, [], 'nothing came before the one before it was taken')
    const sequences = [...taken]
    assert.deepEqual(
      sequences,
      Array.from({ length: events }, (_, index) => first + index),
    )
    assert.equal(new Set(idOf.values()).size, events)
    t.diagnostic(`${receiver.received.length} messages for ${events} events, ${repeats} of them repeats`)
  })
})
