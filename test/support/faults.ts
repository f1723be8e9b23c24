import { createHash, randomBytes } from 'node:crypto'

/** The long form of test/faults/, which `npm run test:faults` asks for. */
export const isLong = process.env.FAULTS === 'long'

/** Determines every random choice: `FAULT_SEED=...` makes the same choices again. */
export const faultSeed = process.env.FAULT_SEED ?? randomBytes(4).toString('hex')

/** Numbers from 0 up to 1, the same ones for the same seed and name. */
export function randomOf(name: string): () => number {
  let drawn = 0
  return () => {
    const digest = createHash('sha256').update(`${faultSeed} ${name} ${drawn++}`).digest()
    return digest.readUInt32BE() / 2 ** 32
  }
}
