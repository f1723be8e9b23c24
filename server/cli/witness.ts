import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import closeWithGrace from 'close-with-grace'
import { readVerifierKey, spellVerifierKey, type VerifierKey, verifierKey } from '../../proof/note.ts'
import { systemClock } from '../clock.ts'
import { createLog, type Log } from '../log.ts'
import { ed25519PublicKey, ed25519Sign, readPrivateKeys } from '../private-keys.ts'
import { listen } from '../witness/listen.ts'
import { State } from '../witness/state.ts'
import { type Invocation, type Outcome, requiredText } from './command.ts'
import { Refused, UsageError } from './failures.ts'

const defaultPort = 7380
const graceMilliseconds = 10_000
const lastLinesMilliseconds = 1_000

/** Resolves once the witness listens. It then runs until a signal ends it. */
export async function runWitness(invocation: Invocation): Promise<Outcome> {
  const { texts, lists, switches } = invocation
  const file = requiredText(invocation, 'state')
  const address = { host: texts.host ?? '127.0.0.1', port: readPort(texts.port) }
  const logs = await readLogKeys(lists.log)
  const cosigner = await readCosigner(requiredText(invocation, 'key'), requiredText(invocation, 'name'))
  const state = await openState(file, cosigner.key, switches.has('new-state'))
  const log = await createLog({ logLevel: 'info' })
  const onError = (err: unknown) => log.error({ err }, 'a checkpoint could not be kept')
  const witness = { ...cosigner, logs, state, clock: systemClock, log }
  const server = await listen(witness, { ...address, onError })
  const keys = { verifierKey: spellVerifierKey(cosigner.key), logs: logs.map(spellVerifierKey) }
  log.info(keys, `listening at http://${spellAddress(server)}`)
  endGracefully(server, log)
  return { value: undefined, text: '' }
}

async function readCosigner(file: string, name: string) {
  const [privateKey] = readPrivateKeys('--key', [file], 'ed25519')
  if (privateKey === undefined) throw new Error('no key')
  const key = await verifierKey(name, 'cosignature/v1', ed25519PublicKey(privateKey)).catch(asUsage('name'))
  return { key, sign: (message: Uint8Array) => ed25519Sign(privateKey, message) }
}

async function readLogKeys(given: string[] = []): Promise<VerifierKey[]> {
  if (given.length === 0) throw new UsageError('--log is missing')
  const keys = await Promise.all(given.map((key) => readVerifierKey(key).catch(asUsage('log'))))
  if (keys.every(({ type }) => type === 'ed25519')) return keys
  throw new UsageError('--log: this is the key of a witness; that of a log is needed')
}

async function openState(file: string, key: VerifierKey, isNew: boolean): Promise<State> {
  if (isNew) {
    await State.create(file).catch((cause) => {
      if (cause.code !== 'EEXIST') throw cause
      throw new Refused('file-exists', `${file} already exists: leave out --new-state`, { cause })
    })
  }
  return State.open(file, key).catch((cause) => {
    if (cause.code === 'ENOENT')
      throw new Refused('state-missing', `${file} is missing: ${ifLost}`, { cause })
    if (cause.code !== undefined) throw cause
    throw new Refused('state-damaged', `${file} is damaged (${cause.message}): ${ifLost}`, { cause })
  })
}

const ifLost =
  'a witness that forgot what it cosigned could cosign a contradiction. Only a witness with a new key may begin' +
  ' with --new-state'

function readPort(given: string | undefined): number {
  if (given === undefined) return defaultPort
  const port = /^\d{1,5}$/.test(given) ? Number(given) : Number.NaN
  if (port <= 65_535) return port
  throw new UsageError('--port takes a number from 0 to 65535')
}

const asUsage = (option: string) => (error: Error) => {
  throw new UsageError(`--${option}: ${error.message}`)
}

function spellAddress(server: Server): string {
  const { address, port, family } = server.address() as AddressInfo
  return `${family === 'IPv6' ? `[${address}]` : address}:${port}`
}

function endGracefully(server: Server, log: Log): void {
  const logger = { error: (err: unknown) => log.error({ err }) }
  closeWithGrace({ delay: graceMilliseconds, logger }, async ({ signal, err }) => {
    if (err) log.fatal({ err }, 'ending after an unexpected error')
    else log.info({ signal }, 'shutting down')
    await new Promise((resolve) => server.close(resolve))
    await log.output.drained?.(lastLinesMilliseconds)
  })
}
