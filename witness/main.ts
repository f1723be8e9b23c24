#!/usr/bin/env node
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parseArgs } from 'node:util'
import { isOfLog, readVerifierKey, spellVerifierKey, type VerifierKey } from '../proof/note.ts'
import { cosignerKey, isOpen, makeKey, readKey, signBy } from './keys.ts'
import { listen } from './listen.ts'
import { State } from './state.ts'
import { sparing } from './witness.ts'

const help = `countersign-witness --key FILE --name NAME --log KEY --state FILE

Runs a witness of logs until a signal ends it: it cosigns a checkpoint only if the log has only grown since the last
one. It answers POST /add-checkpoint and GET /<SHA-256 of the origin>/checkpoint (c2sp.org/tlog-witness), and sees
sizes and hashes only. Its first line shows its verifier key.

  --key FILE    its private key (PEM): Ed25519, or ML-DSA-44 from Node 24.7 on
  --new-key     make that file, which must not exist, with an Ed25519 key
  --name NAME   its name in cosignatures, such as witness.example.com
  --log KEY     verifier key of a log (GET /v1/log/key); repeatable, as for each era
  --state FILE  what it remembers of each log; never restore it from a copy
  --new-state   make that file, which must not exist: only for a new key
  --host HOST   address to listen on; default: 127.0.0.1
  --port PORT   port to listen on, 0 for a free one; default: 7380
  --help        show this
`
const graceMilliseconds = 10_000
const levels = { info: 30, warn: 40, error: 50 }
type Level = keyof typeof levels

/** Wrong use ends with 2, a refusal with 1. */
class Refusal extends Error {
  readonly status: 1 | 2

  constructor(status: 1 | 2, message: string) {
    super(message)
    this.status = status
  }
}

/** One line of JSON for each event, on standard output. */
function print(level: Level, members: object, msg: string): void {
  process.stdout.write(`${JSON.stringify({ level: levels[level], time: Date.now(), ...members, msg })}\n`)
}

try {
  await run()
} catch (error) {
  if (!(error instanceof Refusal)) throw error
  process.stderr.write(`countersign-witness: ${error.message}\n`)
  process.exitCode = error.status
}

async function run(): Promise<void> {
  const options = readOptions()
  if (options.help) {
    process.stdout.write(help)
    return
  }
  const file = required('state', options.state)
  const port = readPort(options.port)
  const logs = await readLogKeys(options.log)
  const cosigner = await readCosigner(options)
  const state = await openState(file, cosigner.key, options['new-state'])
  const log = {
    info: (members: object, message: string) => print('info', members, message),
    warn: (members: object, message: string) => print('warn', members, message),
  }
  if (isOpen(required('key', options.key))) {
    log.warn({ event: 'open-key' }, 'every account of this machine may read or write the private key')
  }
  const onError = (error: unknown) => print('error', { err: String(error) }, 'a checkpoint could not be kept')
  const witness = { ...cosigner, logs, state, clock: Date.now, log: sparing(log, Date.now) }
  const server = await listen(witness, { host: options.host, port, onError }).catch((cause) => {
    throw new Refusal(1, `cannot listen on ${options.host}:${port} (${cause.code})`)
  })
  const keys = { verifierKey: spellVerifierKey(cosigner.key), logs: logs.map(spellVerifierKey) }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => end(server, signal))
  log.info(keys, `listening at http://${spellAddress(server)}`)
}

function readOptions() {
  try {
    return parseArgs({
      options: {
        key: { type: 'string' },
        'new-key': { type: 'boolean', default: false },
        name: { type: 'string' },
        log: { type: 'string', multiple: true, default: [] },
        state: { type: 'string' },
        'new-state': { type: 'boolean', default: false },
        host: { type: 'string', default: '127.0.0.1' },
        port: { type: 'string', default: '7380' },
        help: { type: 'boolean', default: false },
      },
    }).values
  } catch (error) {
    throw new Refusal(2, `${(error as Error).message} (see --help)`)
  }
}

function required(name: string, value: string | undefined): string {
  if (value) return value
  throw new Refusal(2, `--${name} is missing (see --help)`)
}

async function readCosigner(options: { key?: string; name?: string; 'new-key': boolean }) {
  const file = required('key', options.key)
  const name = required('name', options.name)
  try {
    if (options['new-key']) makeKey(file)
    const privateKey = readKey(file)
    const key = await cosignerKey(name, privateKey).catch(asUsage('name'))
    return { key, sign: (message: Uint8Array) => signBy(privateKey, message) }
  } catch (error) {
    if (error instanceof Refusal) throw error
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') throw new Refusal(1, `${file} already exists: leave out --new-key`)
    throw new Refusal(1, `--key: ${file} ${message}`)
  }
}

async function readLogKeys(given: readonly string[]): Promise<VerifierKey[]> {
  if (given.length === 0) throw new Refusal(2, '--log is missing (see --help)')
  const keys = await Promise.all(given.map((key) => readVerifierKey(key).catch(asUsage('log'))))
  if (keys.every(isOfLog)) return keys
  throw new Refusal(2, '--log: this is the key of a witness; that of a log is needed')
}

async function openState(file: string, key: VerifierKey, isNew: boolean): Promise<State> {
  const ifLost =
    'a witness that forgot what it cosigned could cosign a contradiction. Only a witness with a new key may begin' +
    ' with --new-state'
  try {
    if (isNew) await State.create(file)
    return await State.open(file, key)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') throw new Refusal(1, `${file} already exists: leave out --new-state`)
    if (code === 'ENOENT') throw new Refusal(1, `${file} is missing: ${ifLost}`)
    if (code !== undefined) throw new Refusal(1, `${file} cannot be read or written (${code})`)
    throw new Refusal(1, `${file} is damaged (${message}): ${ifLost}`)
  }
}

function readPort(given: string): number {
  const port = /^\d{1,5}$/.test(given) ? Number(given) : Number.NaN
  if (port <= 65_535) return port
  throw new Refusal(2, '--port takes a number from 0 to 65535')
}

function asUsage(option: string) {
  return (error: Error) => {
    throw new Refusal(2, `--${option}: ${error.message}`)
  }
}

function spellAddress(server: Server): string {
  const { address, port, family } = server.address() as AddressInfo
  return `${family === 'IPv6' ? `[${address}]` : address}:${port}`
}

/** Answers what has begun, and takes nothing new. */
function end(server: Server, signal: NodeJS.Signals): void {
  print('info', { signal }, 'shutting down')
  server.close()
  server.closeIdleConnections()
  setTimeout(() => process.exit(1), graceMilliseconds).unref()
}
