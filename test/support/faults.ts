import { createHash, randomBytes } from 'node:crypto'
import type { TestContext } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'

/** The long form of test/faults/, which `npm run test:faults` runs. */
export const isLong = process.env.FAULTS === 'long'

/** Determines every random choice: `FAULT_SEED=...` makes the same choices again. */
export const faultSeed = process.env.FAULT_SEED ?? randomBytes(4).toString('hex')

/** Numbers from 0 up to, but not including, 1. The same seed and name give the same ones. */
export function randomOf(name: string): () => number {
  let drawn = 0
  return () => {
    const digest = createHash('sha256').update(`${faultSeed} ${name} ${drawn++}`).digest()
    return digest.readUInt32BE() / 2 ** 32
  }
}

const neededShare = 0.3

/**
 * Waits until this process gets a third of a core, for at most a minute. With less, requests that a test
 * expects to succeed would run into the time limits of the service.
 */
export async function needsCore(t: TestContext): Promise<void> {
  for (let tries = 0; tries < 60; tries += 1) {
    if (shareOfCore() >= neededShare) return
    await wait(1_000)
  }
  t.diagnostic('other work left less than a third of a core')
}

/** The share of one core that this process gets while it computes for 30 ms. */
function shareOfCore(): number {
  const [began, used] = [performance.now(), process.cpuUsage()]
  const spentMicroseconds = () => {
    const { user, system } = process.cpuUsage(used)
    return user + system
  }
  while (spentMicroseconds() < 30_000);
  return spentMicroseconds() / 1000 / (performance.now() - began)
}
