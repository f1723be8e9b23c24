import { createReadStream, createWriteStream, existsSync, readFileSync, rmSync } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { JSONWebKeySet } from 'jose'
import { headOfLog } from '../audit/audit.ts'
import type { Head } from '../audit/chain.ts'
import { exportLog } from '../audit/log.ts'
import { readCheckpoint, signCheckpoint } from '../audit/statements.ts'
import { type LogReport, verifyLog } from '../audit/verify.ts'
import { loadSigningKeys } from '../auth/credentials/tokens/keys.ts'
import { systemClock } from '../clock.ts'
import { publicUrlAt, readConfig } from '../config.ts'
import type { AppDatabase } from '../db/port.ts'
import { type Invocation, type Outcome, requiredArgument } from './command.ts'
import { commandStamp, databaseOf, refuseMissingDatabase, withDatabase } from './database.ts'
import { Refused, UsageError } from './failures.ts'

const caller = 'log'

/** To a new file that only its owner may read, or to standard output. */
export async function runExportLog(invocation: Invocation): Promise<Outcome> {
  const file = invocation.positionals[0] ?? '-'
  if (file !== '-' && existsSync(file)) {
    throw new Refused('file-exists', `${file} already exists; it was not changed`)
  }
  const { size } = await withSealedLog(invocation, async (db) => {
    const lines = Readable.from(exportLog(db, 0, caller), { objectMode: false })
    if (file === '-') await pipeline(lines, process.stdout, { end: false })
    else await writeWhole(file, lines)
    return headOfLog(db.read)
  })
  if (file === '-') return { value: undefined, text: '' }
  return { value: { file, size }, text: `Wrote the log to ${file}; it has ${size} events.` }
}

/** Removes the file when it cannot be finished: a part of the log could be taken for the whole. */
async function writeWhole(file: string, lines: Readable): Promise<void> {
  const output = createWriteStream(file, { flags: 'wx', mode: 0o600, flush: true })
  try {
    await pipeline(lines, output)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') rmSync(file, { force: true })
    throw error
  }
}

/** Uses the key and the address that `serve` would use in the same place. */
export async function runLogCheckpoint(invocation: Invocation): Promise<Outcome> {
  const config = readConfig(process.env, invocation)
  const { signingKeyFiles, signingAlgorithm } = config
  if (signingKeyFiles.length === 0) {
    throw new Refused('no-key', 'SIGNING_KEY_FILES: a checkpoint is signed with the service’s key')
  }
  const keys = await loadSigningKeys(signingKeyFiles, signingAlgorithm)
  const head = await withSealedLog(invocation, (db) => headOfLog(db.read))
  const issuer = publicUrlAt(config, config.port)
  const checkpoint = await signCheckpoint(keys, issuer, head, systemClock())
  return { value: { checkpoint, ...head }, text: checkpoint }
}

export async function runEraseText(invocation: Invocation): Promise<Outcome> {
  const given = requiredArgument(invocation, 0, 'the sequence')
  if (!/^[1-9]\d{0,14}$/.test(given)) throw new UsageError('the sequence is a number, such as 1043')
  const sequence = Number(given)
  const erased = await withSealedLog(invocation, async (db) => {
    const answer = await db.write('eraseText', { sequence, stamp: commandStamp() })
    // Without its event the text would seem to have been removed by stealth.
    await seal(db)
    return answer
  })
  if ('refused' in erased) throw new Refused(erased.refused, `event ${sequence} has no text`)
  const { kind, subject } = erased
  return {
    value: { sequence, kind, subject },
    text: `Erased the text of event ${sequence} (${kind}, ${subject.kind} ${subject.id}).`,
    hint: 'Backups and earlier exports still have it.',
  }
}

/** Refuses a missing database, because the log of a new one is empty and verifies. */
function withLog<T>(invocation: Invocation, work: (db: AppDatabase) => Promise<T>): Promise<T> {
  refuseMissingDatabase(databaseOf(invocation).databaseUrl)
  return withDatabase(invocation, work)
}

function withSealedLog<T>(invocation: Invocation, work: (db: AppDatabase) => Promise<T>): Promise<T> {
  return withLog(invocation, async (db) => {
    await seal(db)
    return work(db)
  })
}

/** Seals every waiting event, unless a running service is doing so. */
async function seal(db: AppDatabase): Promise<void> {
  while ((await db.write('sealEvents', { limit: 1_000 })) > 0);
}

/** A head that the log must agree with, and where it comes from. */
interface Witness extends Head {
  name: string
}

export async function runVerifyLog(invocation: Invocation): Promise<Outcome> {
  const { export: file, jwks: jwksFile } = invocation.texts
  const jwks = jwksFile === undefined ? null : readJwks(jwksFile)
  const kept = await readWitnesses(invocation.lists.checkpoint ?? [], jwks)
  const { size, hash } = await (file === undefined
    ? withLog(invocation, (db) => verifyDatabase(db, kept))
    : verify(createReadStream(file), kept))
  const signatures = kept.length > 0 && jwks === null ? 'not checked' : 'checked'
  const agreed = kept.length === 1 ? 'the checkpoint' : `all ${kept.length} checkpoints`
  return {
    value: { size, hash, checkpoints: kept.length, ...(kept.length === 0 ? {} : { signatures }) },
    text: [
      `The log is whole: ${size} events${size === 0 ? '' : `, the last with the hash ${hash}`}.`,
      ...(kept.length === 0 ? [] : [`It agrees with ${agreed}.`]),
    ].join('\n'),
    ...hintOf(kept, jwks),
  }
}

/** The database itself states how far its log goes. */
async function verifyDatabase(db: AppDatabase, kept: readonly Witness[]): Promise<Head> {
  const head = { ...(await headOfLog(db.read)), name: 'the database (log_head)' }
  return verify(Readable.from(exportLog(db, 0, caller), { objectMode: false }), [...kept, head])
}

function hintOf(witnesses: readonly Witness[], jwks: JSONWebKeySet | null): { hint?: string } {
  if (witnesses.length === 0) {
    return { hint: 'Without a checkpoint that someone kept, a rewritten log looks whole too.' }
  }
  return jwks === null ? { hint: 'The signatures of the checkpoints were not checked (--jwks FILE).' } : {}
}

/** Throws `Refused` for the first fault: a line that does not fit, then a checkpoint that disagrees. */
async function verify(lines: Readable, witnesses: readonly Witness[]): Promise<Head> {
  const { head, fault, checkpoints }: LogReport = await verifyLog(lines, witnesses)
  if (fault !== null) {
    throw new Refused('log-broken', `event ${fault.sequence} does not fit: ${fault.reason}`)
  }
  for (const [index, { name, size }] of witnesses.entries()) {
    if (checkpoints[index] === 'disagrees') {
      throw new Refused(
        'checkpoint-disagrees',
        `${name} disagrees: event ${size} has another hash, so the log was rewritten up to there`,
      )
    }
    if (checkpoints[index] === 'beyond') {
      throw new Refused(
        'log-cut',
        `the end is missing: ${name} covers ${size} events, but the log has ${head.size}`,
      )
    }
  }
  return head
}

/**
 * Each line of a file is a JWS, or JSON with one as `checkpoint`: an answer of the service, or a line of its
 * log.
 */
async function readWitnesses(files: readonly string[], jwks: JSONWebKeySet | null): Promise<Witness[]> {
  const witnesses: Witness[] = []
  for (const file of files) {
    const lines = readFileSync(file, 'utf8').split('\n')
    // A failed cron job left it empty: nothing would be compared, and everything would look whole.
    if (lines.every((line) => line.trim() === ''))
      throw new Refused('bad-checkpoint', `${file} has no checkpoint`)
    for (const [index, line] of lines.entries()) {
      if (line.trim() === '') continue
      const name = lines.length > 2 ? `${file}:${index + 1}` : file
      try {
        witnesses.push({ ...(await readCheckpoint(jwsOf(line.trim()), jwks)), name })
      } catch (error) {
        const reason = (error as Error).message
        throw new Refused('bad-checkpoint', `${name} is not a checkpoint of this service: ${reason}`, {
          cause: error,
        })
      }
    }
  }
  return witnesses
}

function jwsOf(line: string): string {
  return line.startsWith('{') ? String(JSON.parse(line).checkpoint) : line
}

function readJwks(file: string): JSONWebKeySet {
  const text = readFileSync(file, 'utf8')
  try {
    const jwks = JSON.parse(text)
    if (Array.isArray(jwks.keys)) return jwks
  } catch {}
  throw new Refused('bad-jwks', `${file} is not a JWK Set (see /.well-known/jwks.json)`)
}
