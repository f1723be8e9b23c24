import { prepared, unseen } from '../../../db/prepared.ts'
import type { Db, Trx } from '../../../db/tables.ts'
import { selectCredentials, type UserCredentials } from '../../accounts/users/store.ts'

/** An account of the company: only both together name one. */
export interface CompanyName {
  issuer: string
  subject: string
}

/** The user who is linked to it, enabled or not. */
export async function findCompanyUser(db: Db, name: CompanyName): Promise<UserCredentials | undefined> {
  const [row] = (await selectUser(db, name)).rows
  return row && { ...row, enabled: row.enabled === 1 }
}

const selectUser = prepared((db, { issuer, subject }: CompanyName) =>
  selectCredentials(db)
    .innerJoin('company_accounts', 'company_accounts.principal_id', 'principals.id')
    .where('issuer', '=', unseen(issuer))
    .where('subject', '=', unseen(subject)),
)

/** The company account of a user. */
export async function findLinkOf(db: Db, principalId: number): Promise<CompanyName | undefined> {
  return (await selectLink(db, { principalId })).rows[0]
}

const selectLink = prepared((db, { principalId }: { principalId: number }) =>
  db.selectFrom('company_accounts').select(['issuer', 'subject']).where('principal_id', '=', principalId),
)

/** Returns false if the user or the company account is linked already. */
export async function insertLink(
  trx: Trx,
  link: CompanyName & { principalId: number; nowMilliseconds: number },
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await trx
    .insertInto('company_accounts')
    .values({
      principal_id: link.principalId,
      issuer: link.issuer,
      subject: link.subject,
      linked_at: link.nowMilliseconds,
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows === 1n
}

export const insertCompanySession = prepared((trx, session: { sessionId: string; sid: string | null }) =>
  trx.insertInto('company_sessions').values({ session_id: session.sessionId, company_sid: session.sid }),
)

/**
 * Ends the sessions that the user's company account began; those that it only confirmed are no longer recent.
 * Returns the ids of the ended ones.
 */
export async function endCompanySessions(trx: Trx, principalId: number): Promise<string[]> {
  const own = trx.selectFrom('sessions').select('id').where('principal_id', '=', principalId)
  const ended = await trx
    .deleteFrom('sessions')
    .where('principal_id', '=', principalId)
    .where('id', 'in', (eb) => eb.selectFrom('company_sessions').select('session_id'))
    .returning('id')
    .execute()
  await trx
    .updateTable('session_ids')
    .set('authenticated_at', 0)
    .where('by_company', '=', 1)
    .where('session_id', 'in', own)
    .execute()
  return ended.map(({ id }) => id)
}

/** The sessions of one `sid`, with the user's id of each. */
export async function findSessionsOf(
  db: Db,
  { issuer, sid }: { issuer: string; sid: string },
): Promise<{ id: string; principalId: number }[]> {
  return db
    .selectFrom('company_sessions')
    .innerJoin('sessions', 'sessions.id', 'session_id')
    .innerJoin('company_accounts', 'company_accounts.principal_id', 'sessions.principal_id')
    .select(['sessions.id', 'sessions.principal_id as principalId'])
    .where('company_sid', '=', sid)
    .where('issuer', '=', issuer)
    .execute()
}

/** Whether any credential was given in the session since then, as far as its ids know. */
export async function isRecent(trx: Trx, sessionId: string, since: number): Promise<boolean> {
  const recent = await trx
    .selectFrom('session_ids')
    .select('id_hash')
    .where('session_id', '=', sessionId)
    .where('authenticated_at', '>', since)
    .executeTakeFirst()
  return recent !== undefined
}
