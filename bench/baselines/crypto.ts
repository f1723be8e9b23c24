import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { hash, verify } from '@node-rs/argon2'

/**
 * Rates of the bare cryptography of a login and of a token refresh, as one line of JSON.
 */
const milliseconds = Number(process.argv[2] ?? 2_000)
/** The same as the service's (server/auth/credentials/passwords/passwords.ts). */
const parameters = { algorithm: 2, memoryCost: 19 * 1024, timeCost: 2, parallelism: 1 }

/** Calls a second, `lanes` at a time. */
async function rateOf(lanes: number, work: () => Promise<unknown>): Promise<number> {
  const begunAt = performance.now()
  const endAt = begunAt + milliseconds
  let done = 0
  const lane = async () => {
    while (performance.now() < endAt) {
      await work()
      done += 1
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  return (done / (performance.now() - begunAt)) * 1000
}

/** Signs in the calling thread. */
function signRateOfOneThread(key: KeyObject, data: Buffer): number {
  const begunAt = performance.now()
  let done = 0
  while (performance.now() < begunAt + milliseconds) {
    sign('sha256', data, key)
    done += 1
  }
  return (done / (performance.now() - begunAt)) * 1000
}

const cores = availableParallelism()
const stored = await hash('countersign bench password', parameters)
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const data = Buffer.alloc(400, 'x')
const signInPool = () =>
  new Promise((resolve, reject) => {
    sign('sha256', data, privateKey, (error, signature) => (error ? reject(error) : resolve(signature)))
  })

const rates = {
  argon2id: await rateOf(cores, () => verify(stored, 'countersign bench password')),
  signOneThread: signRateOfOneThread(privateKey, data),
  signAllCores: await rateOf(cores, signInPool),
}
process.stdout.write(`${JSON.stringify(rates)}\n`)
