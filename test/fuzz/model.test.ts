// engine: both
import { after, describe, it } from 'node:test'
import fc from 'fast-check'
import { adminCommands } from './admin-commands.ts'
import { command, weighted } from './command.ts'
import { lifeCommands } from './life-commands.ts'
import { listCommands } from './list-commands.ts'
import type { Model } from './model.ts'
import { createOrder, orderCommands } from './order-commands.ts'
import { Sender } from './sender.ts'
import { firstSessions, sessionCommands } from './session-commands.ts'
import { announceSeed, assertAlways, effort } from './settings.ts'
import { firstTokens, tokenCommands } from './token-commands.ts'
import { World } from './world.ts'

const longest = 60
/** Mistakes planted into the service were found within fourteen sequences, or not even within sixty. */
const sequenceCount = 16

/** An administrator and an operator in a browser each, and a token for everyone. */
const beginning = [...firstSessions, ...firstTokens]

async function begin(model: Model, world: World): Promise<void> {
  for (const first of beginning) await first.run(model, world)
}

/** By then, keys and waits are forgotten, and everyone may sign in again. */
const nextDay = command('nextDay', fc.constant({}), async (model, world) => {
  await createWithKey(1).run(model, world)
  world.service.advance(86_400_000)
  await begin(model, world)
  await createWithKey(2).run(model, world)
})

const newestToken = { kind: 'bearer', browser: 0, bearer: 0, antiforgery: 'right' } as const
const createWithKey = (totalE4: number) =>
  createOrder.of({ choice: newestToken, customer: 'Acme', totalE4, key: 'a', zone: undefined })

describe('any sequence of requests, changes by an operator, and waits', () => {
  const sender = new Sender()
  let world: World | undefined
  after(async () => {
    sender.close()
    await world?.close()
  })

  it('ends as a small model of the service predicts, whichever of two instances answers', async (t) => {
    announceSeed(t)
    const all = [
      ...sessionCommands,
      ...tokenCommands,
      ...orderCommands,
      ...lifeCommands,
      ...listCommands,
      ...adminCommands,
      ...weighted([2, nextDay]),
    ]
    const sequence = fc.commands(all, { maxCommands: longest, size: 'max' })
    let sequences = 0
    await assertAlways(sequence, effort(sequenceCount, 2), async (commands) => {
      world ??= await World.start(sender)
      const model = await world.newModel()
      const real = world
      await begin(model, world)
      await fc.asyncModelRun(() => ({ model, real }), commands)
      await real.assertStored(model)
      sequences += 1
      if (!world.isFull(model)) return
      await world.close()
      world = undefined
    })
    t.diagnostic(`${sequences} sequences, ${sender.summary()}`)
  })
})
