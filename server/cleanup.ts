import type { FastifyBaseLogger } from 'fastify'
import type { Transaction } from 'kysely'
import type { Clock } from './clock.ts'
import type { Config } from './config.ts'
import type { Database } from './db/tables.ts'
import type { AppDatabase } from './operations.ts'

const intervalMilliseconds = 60_000
/** Rows of each kind in one transaction: small, so that no write waits long for it. */
const batchRows = 500
const batchesAtOnce = 100
/**
 * A reader adds up what is not folded yet: at 2,000 writes a second these are some 4,000 rows, about a millisecond.
 * Sooner would be more transactions for nothing on a service that rests.
 */
const foldIntervalMilliseconds = 2_000
const foldBatchRows = 2_000
/** Failed-login counters are forgotten after a day (section 8 of the contract). */
const loginFailuresKeptMilliseconds = 24 * 3_600_000

export interface RemoveExpiredInput {
  nowMilliseconds: number
  sessionIdleTtlMilliseconds: number
  limit: number
}

/**
 * Deletes at most `limit` rows of each kind that nothing can use any more: ended sessions and their ids, families of
 * refresh tokens, idempotency keys, failed-login counters. Returns the greatest number deleted of one kind.
 */
export async function removeExpired(trx: Transaction<Database>, input: RemoveExpiredInput): Promise<number> {
  const { nowMilliseconds: now, limit } = input
  const deleted = [
    ...(await removeEndedSessions(trx, input)),
    await removeTokensOfEndedFamilies(trx, now, limit),
    await removeEndedFamilies(trx, now, limit),
    await removeForgottenFailures(trx, now, limit),
    await removeExpiredKeys(trx, now, limit),
  ]
  return Math.max(...deleted.map((result) => Number(result.numDeletedRows)))
}

/** Those unused for too long, those at their absolute end, and ids that others have replaced. */
async function removeEndedSessions(trx: Transaction<Database>, input: RemoveExpiredInput) {
  const { nowMilliseconds: now, sessionIdleTtlMilliseconds, limit } = input
  return [
    await trx
      .deleteFrom('sessions')
      .where('id', 'in', (eb) =>
        eb
          .selectFrom('sessions')
          .select('id')
          .where('last_seen_at', '<=', now - sessionIdleTtlMilliseconds)
          .limit(limit),
      )
      .executeTakeFirst(),
    await trx
      .deleteFrom('sessions')
      .where('id', 'in', (eb) =>
        eb.selectFrom('sessions').select('id').where('absolute_expires_at', '<=', now).limit(limit),
      )
      .executeTakeFirst(),
    await trx
      .deleteFrom('session_ids')
      .where('id_hash', 'in', (eb) =>
        eb.selectFrom('session_ids').select('id_hash').where('retired_at', '<=', now).limit(limit),
      )
      .executeTakeFirst(),
  ]
}

/** A family has as many as it was refreshed in a month: with it, they would be a batch without bound. */
function removeTokensOfEndedFamilies(trx: Transaction<Database>, now: number, limit: number) {
  return trx
    .deleteFrom('refresh_tokens')
    .where('token_hash', 'in', (eb) =>
      eb
        .selectFrom('refresh_families')
        .innerJoin('refresh_tokens', 'refresh_tokens.family_id', 'refresh_families.id')
        .select('token_hash')
        .where('refresh_families.expires_at', '<=', now)
        .limit(limit),
    )
    .executeTakeFirst()
}

function removeEndedFamilies(trx: Transaction<Database>, now: number, limit: number) {
  return trx
    .deleteFrom('refresh_families')
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('refresh_families')
        .select('id')
        .where('expires_at', '<=', now)
        .where(({ not, exists, selectFrom }) =>
          not(
            exists(
              selectFrom('refresh_tokens')
                .select('token_hash')
                .whereRef('refresh_tokens.family_id', '=', 'refresh_families.id'),
            ),
          ),
        )
        .limit(limit),
    )
    .executeTakeFirst()
}

function removeForgottenFailures(trx: Transaction<Database>, now: number, limit: number) {
  return trx
    .deleteFrom('login_failures')
    .where('key_hash', 'in', (eb) =>
      eb
        .selectFrom('login_failures')
        .select('key_hash')
        .where('updated_at', '<=', now - loginFailuresKeptMilliseconds)
        .limit(limit),
    )
    .executeTakeFirst()
}

/** One key at a time would be a statement each; a range of expiry times covers a batch of them. */
async function removeExpiredKeys(trx: Transaction<Database>, now: number, limit: number) {
  const last = await trx
    .selectFrom('idempotency_keys')
    .select('expires_at')
    .where('expires_at', '<=', now)
    .orderBy('expires_at')
    .limit(1)
    .offset(limit - 1)
    .executeTakeFirst()
  return trx
    .deleteFrom('idempotency_keys')
    .where('expires_at', '<=', last?.expires_at ?? now)
    .executeTakeFirst()
}

/**
 * Cleans up once a minute and, where the database leaves that to be done, folds the tally of orders every two seconds,
 * both in small batches, as long as the service runs. Returns the way to stop.
 */
export function cleanUpRegularly(
  db: AppDatabase,
  clock: Clock,
  config: Config,
  log: FastifyBaseLogger,
): () => void {
  const stopCleaning = regularly(
    intervalMilliseconds,
    async () => {
      const removed = await db.write('removeExpired', {
        nowMilliseconds: clock(),
        sessionIdleTtlMilliseconds: config.sessionIdleTtlSeconds * 1000,
        limit: batchRows,
      })
      return removed >= batchRows
    },
    (err) => log.warn({ err }, 'cleaning up was not possible; trying again in a minute'),
  )
  if (!db.defersTally) return stopCleaning
  const stopFolding = regularly(
    foldIntervalMilliseconds,
    async () => (await db.write('foldOrderTally', { limit: foldBatchRows })) >= foldBatchRows,
    (err) =>
      log.warn({ err }, 'folding the tally of orders was not possible; trying again every two seconds'),
  )
  return () => {
    stopCleaning()
    stopFolding()
  }
}

/**
 * Does batch after batch, as long as there is another, once in each interval and never twice at the same time. Of
 * failures that follow each other only the first is told.
 */
function regularly(
  milliseconds: number,
  batch: () => Promise<boolean>,
  onFailure: (error: unknown) => void,
): () => void {
  let isRunning = false
  let hasFailed = false
  let isStopped = false
  const timer = setInterval(async () => {
    if (isRunning) return
    isRunning = true
    try {
      for (let count = 0; count < batchesAtOnce && !isStopped; count += 1) if (!(await batch())) break
      hasFailed = false
    } catch (error) {
      if (!hasFailed && !isStopped) onFailure(error)
      hasFailed = true
    } finally {
      isRunning = false
    }
  }, milliseconds)
  timer.unref()
  return () => {
    isStopped = true
    clearInterval(timer)
  }
}
