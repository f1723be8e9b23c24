import { setTimeout as wait } from 'node:timers/promises'
import { loadLogKeys } from '../../server/audit/checkpoints/checkpoints.ts'
import { systemClock } from '../../server/clock.ts'
import { readConfig } from '../../server/config.ts'
import { webhookSending } from '../../server/couriers.ts'
import { openAppDatabase } from '../../server/operations.ts'
import { Sender } from '../../server/outbox/sender.ts'

// The sender of an instance, until it is killed: `node outbox-instance.ts`, with settings in the environment.
// It hardly waits between looks, and after a failure.
const config = readConfig(process.env, { development: false })
const parts = {
  config,
  db: await openAppDatabase(config.database),
  clock: systemClock,
  logKeys: loadLogKeys(config.logKeyFiles),
}
const { sending } = webhookSending(parts, () => String(config.publicUrl))
if (sending === null) throw new Error('no key')
const print = (line: object) => void process.stderr.write(`${JSON.stringify(line)}\n`)
const sender = new Sender({
  ...parts,
  couriers: { webhook: sending.courier },
  random: () => 0.5,
  log: { info: print, warn: print },
  retries: { pauses: [1], limit: 3_600_000, longestWish: 0 },
  leaseMilliseconds: 600,
})
for (;;) {
  await sender.look().catch(print)
  await wait(3)
}
