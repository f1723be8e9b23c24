/** The ids of a session: each knows by itself when a credential was last given. */
import { prepared } from '../../../../db/prepared.ts'
import type { Trx } from '../../../../db/tables.ts'
import { hasCompanyAccount } from '../../../accounts/store.ts'
import { findPasskey } from '../../passkeys/store.ts'

export interface Authenticated {
  authenticatedAt: number
  /** The passkey that was given then; null for the password and a company account. */
  passkeyId: string | null
  /** Whether the company account was shown then. */
  byCompany?: boolean
}

interface NewSessionId extends Authenticated {
  principalId: number
  sessionId: string
  idHash: string
  number: number
}

/** Not recent if the passkey was removed, or the account unlinked, after the request was checked. */
export async function insertSessionId(trx: Trx, id: NewSessionId): Promise<void> {
  const isHeld = id.byCompany
    ? await hasCompanyAccount(trx, id.principalId)
    : id.passkeyId === null || (await findPasskey(trx, id.passkeyId)) !== undefined
  const authenticatedAt = isHeld ? id.authenticatedAt : 0
  await insertId(trx, { ...id, authenticatedAt, isByCompany: id.byCompany ? 1 : 0 })
}

const insertId = prepared((trx, id: NewSessionId & { isByCompany: number }) =>
  trx.insertInto('session_ids').values({
    id_hash: id.idHash,
    session_id: id.sessionId,
    number: id.number,
    authenticated_at: id.authenticatedAt,
    passkey_id: id.passkeyId,
    retired_at: null,
    by_company: id.isByCompany,
  }),
)

/** Ends every id of the session, and gives it a new one. */
export async function replaceIds(
  trx: Trx,
  { sessionId, ...id }: Omit<NewSessionId, 'number'>,
): Promise<void> {
  await trx.deleteFrom('session_ids').where('session_id', '=', sessionId).execute()
  const { issued_ids: number } = await trx
    .updateTable('sessions')
    .set((eb) => ({ issued_ids: eb('issued_ids', '+', 1) }))
    .where('id', '=', sessionId)
    .returning('issued_ids')
    .executeTakeFirstOrThrow()
  await insertSessionId(trx, { ...id, sessionId, number })
}

export interface ReplacedId {
  sessionId: string
  /** Null if any id will do: a confirmation elsewhere may take minutes. */
  presentedIdHash: string | null
  nowMilliseconds: number
  /** When the presented id stops working, unless it ends earlier already. */
  retireAt: number
}

/** False if the presented id no longer works. */
export async function retireId(trx: Trx, input: ReplacedId): Promise<boolean> {
  if (input.presentedIdHash === null) return true
  const { numUpdatedRows } = await trx
    .updateTable('session_ids')
    .set((eb) => ({ retired_at: eb.fn.coalesce('retired_at', eb.val(input.retireAt)) }))
    .where('id_hash', '=', input.presentedIdHash)
    .where((eb) => eb.or([eb('retired_at', 'is', null), eb('retired_at', '>', input.nowMilliseconds)]))
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/** How many ids of a session work at a time; one more ends the oldest at once. */
export const idsLimit = 8

/** Deletes the ids that no longer work, and the oldest of the others if there is no room for a new one. */
export async function makeRoomForId(
  trx: Trx,
  { sessionId, nowMilliseconds }: Pick<ReplacedId, 'sessionId' | 'nowMilliseconds'>,
): Promise<void> {
  const ids = trx.deleteFrom('session_ids').where('session_id', '=', sessionId)
  await ids.where('retired_at', '<=', nowMilliseconds).execute()
  await ids
    .where('number', '<=', (eb) =>
      eb
        .selectFrom('session_ids as kept')
        .select('kept.number')
        .where('kept.session_id', '=', sessionId)
        .orderBy('kept.number', 'desc')
        .limit(1)
        .offset(idsLimit - 1),
    )
    .execute()
}
