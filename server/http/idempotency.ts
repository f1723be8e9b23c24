import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Insertable, Transaction } from 'kysely'
import { LockTimeout } from '../db/errors.ts'
import { preparedWrite } from '../db/prepared.ts'
import type { Database, IdempotencyKeysTable } from '../db/tables.ts'
import { sha256 } from '../ids.ts'
import { Problem, retryAfter } from './problems.ts'

const keptMilliseconds = 24 * 3_600_000

/** A key as a write operation needs it: scoped to caller, method and path. */
export interface IdempotencyInput {
  principalId: number
  operation: string
  key: string
  /** Hash over the validated values of the request. */
  fingerprint: string
  nowMilliseconds: number
  expiresAt: number
}

/** An answer that can be given again: only 2xx ones are ever stored. */
export interface StoredAnswer {
  status: number
  /** JSON text, or null for none. */
  body: string | null
  location: string | null
  etag: string | null
}

export interface OnceAnswer extends StoredAnswer {
  replayed: boolean
}

export const idempotencyKeyHeader = {
  name: 'Idempotency-Key',
  description:
    '1 to 255 printable ASCII characters, bare or in double quotes. The same key with the same request gives the first answer again for 24 hours.',
  schema: { type: 'string', minLength: 1, maxLength: 257, example: '9f1c2f0a-create-42' },
}

export const replayedHeader = {
  name: 'Idempotency-Replayed',
  description: '`true` when the answer of an earlier request with the same key is given again.',
  schema: { type: 'string', enum: ['true'] },
}

/** Reads the header; null without one. `values` are the validated values of the request, as plain data. */
export function readIdempotency(
  request: FastifyRequest,
  path: string,
  values: unknown[],
  nowMilliseconds: number,
): IdempotencyInput | null {
  const fields = request.raw.headersDistinct['idempotency-key']
  if (fields === undefined || request.principal === null) return null
  const key = fields.length === 1 ? parseKey(fields[0] ?? '') : undefined
  if (key === undefined) {
    const detail = 'Idempotency-Key must be 1 to 255 printable ASCII characters, bare or in double quotes.'
    throw new Problem('invalid-idempotency-key', {
      detail,
      errors: [{ header: 'Idempotency-Key', code: 'format', detail }],
    })
  }
  return {
    principalId: request.principal.id,
    operation: `${request.method} ${path}`,
    key,
    fingerprint: sha256(JSON.stringify(values)),
    nowMilliseconds,
    expiresAt: nowMilliseconds + keptMilliseconds,
  }
}

/** Bare, or a string of RFC 8941 with its two escapes. */
function parseKey(field: string): string | undefined {
  const quoted = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/.exec(field)?.[1]
  const key = quoted?.replaceAll(/\\(["\\])/g, '$1') ?? field
  if (quoted === undefined && field.startsWith('"')) return undefined
  return /^[\x20-\x7e]{1,255}$/.test(key) ? key : undefined
}

/**
 * Runs `effect` at most once for a key, in the transaction of its write: the key and the effect become durable
 * together or not at all. A second request waits for the first (the unique index makes it wait), then gets the
 * stored answer. Throws `idempotency-key-reused` for the key of another request.
 */
export async function once(
  trx: Transaction<Database>,
  input: IdempotencyInput | null,
  effect: () => Promise<StoredAnswer>,
): Promise<OnceAnswer> {
  if (input === null) return { ...(await effect()), replayed: false }
  if (!(await claimOrWait(trx, input, unanswered))) return replay(trx, input)
  const answer = await effect()
  await trx.updateTable('idempotency_keys').set(answer).where(sameKey(input)).execute()
  return { ...answer, replayed: false }
}

/** The same where the answer is known before. */
export async function onceAnswering(
  trx: Transaction<Database>,
  input: IdempotencyInput | null,
  answer: StoredAnswer,
  effect: () => Promise<void>,
): Promise<OnceAnswer> {
  if (input !== null && !(await claimOrWait(trx, input, answer))) return replay(trx, input)
  await effect()
  return { ...answer, replayed: false }
}

/** Stands until the effect has its answer; nobody else ever sees it. */
const unanswered: StoredAnswer = { status: 0, body: null, location: null, etag: null }

/** The unique index makes a second request wait for the first; past the lock timeout it is told so. */
async function claimOrWait(
  trx: Transaction<Database>,
  input: IdempotencyInput,
  answer: StoredAnswer,
): Promise<boolean> {
  try {
    return await claim(trx, input, answer)
  } catch (cause) {
    if (!(cause instanceof LockTimeout)) throw cause
    throw new Problem('idempotency-in-progress', { headers: retryAfter(1_000), cause })
  }
}

/** A key with the answer that it gives from now on, for who stores it together with its effect. */
export function claimOf(input: IdempotencyInput, answer: StoredAnswer): Insertable<IdempotencyKeysTable> {
  const { principalId, operation, key, fingerprint, expiresAt } = input
  return { principal_id: principalId, operation, key, fingerprint, ...answer, expires_at: expiresAt }
}

/** False when the key is held; an expired one is taken over. */
async function claim(
  trx: Transaction<Database>,
  input: IdempotencyInput,
  answer: StoredAnswer,
): Promise<boolean> {
  return (await insertClaim(trx, { ...input, ...answer })) === 1
}

const insertClaim = preparedWrite((db, claimed: IdempotencyInput & StoredAnswer) =>
  db
    .insertInto('idempotency_keys')
    .values({
      principal_id: claimed.principalId,
      operation: claimed.operation,
      key: claimed.key,
      fingerprint: claimed.fingerprint,
      status: claimed.status,
      body: claimed.body,
      location: claimed.location,
      etag: claimed.etag,
      expires_at: claimed.expiresAt,
    })
    .onConflict((conflict) =>
      conflict
        .columns(['principal_id', 'operation', 'key'])
        .doUpdateSet(({ ref }) => ({
          fingerprint: ref('excluded.fingerprint'),
          status: ref('excluded.status'),
          body: ref('excluded.body'),
          location: ref('excluded.location'),
          etag: ref('excluded.etag'),
          expires_at: ref('excluded.expires_at'),
        }))
        .where('idempotency_keys.expires_at', '<=', claimed.nowMilliseconds),
    ),
)

async function replay(trx: Transaction<Database>, input: IdempotencyInput): Promise<OnceAnswer> {
  const { fingerprint, ...answer } = await trx
    .selectFrom('idempotency_keys')
    .select(['fingerprint', 'status', 'body', 'location', 'etag'])
    .where(sameKey(input))
    .executeTakeFirstOrThrow()
  if (fingerprint !== input.fingerprint) throw new Problem('idempotency-key-reused')
  return { ...answer, replayed: true }
}

function sameKey({ principalId, operation, key }: IdempotencyInput) {
  // biome-ignore lint/suspicious/noExplicitAny: one predicate for a select and an update of the same table
  return (eb: any) => eb.and({ principal_id: principalId, operation, key })
}

/**
 * Deletes some `limit` keys that have expired, and returns how many. One key at a time would be a statement each; a
 * range of expiry times covers a batch of them.
 */
export async function removeExpiredKeys(
  trx: Transaction<Database>,
  { nowMilliseconds, limit }: { nowMilliseconds: number; limit: number },
): Promise<number> {
  const last = await trx
    .selectFrom('idempotency_keys')
    .select('expires_at')
    .where('expires_at', '<=', nowMilliseconds)
    .orderBy('expires_at')
    .limit(1)
    .offset(limit - 1)
    .executeTakeFirst()
  const { numDeletedRows } = await trx
    .deleteFrom('idempotency_keys')
    .where('expires_at', '<=', last?.expires_at ?? nowMilliseconds)
    .executeTakeFirst()
  return Number(numDeletedRows)
}

/** Sends an answer, fresh or replayed; the two differ by one header only. */
export function sendAnswer(reply: FastifyReply, answer: OnceAnswer): FastifyReply {
  if (answer.replayed) reply.header('idempotency-replayed', 'true')
  if (answer.location !== null) reply.header('location', answer.location)
  if (answer.etag !== null) reply.header('etag', answer.etag)
  reply.code(answer.status)
  if (answer.body === null) return reply.send()
  return reply
    .header('content-type', 'application/json; charset=utf-8')
    .serializer((body: unknown) => body as string)
    .send(answer.body)
}
