import { sql, type Transaction } from '#kysely'
import { prepared } from '../../db/prepared.ts'
import type { Database } from '../../db/tables.ts'
import { Problem } from '../../http/problems.ts'

/** The credentials of a user as they were when its password was checked. */
export interface CheckedCredentials {
  principalId: number
  credentialsChangedAt: number
  passwordHash: string
}

/**
 * The account, if it is enabled. A write that changes nothing locks it: what changes its credentials comes either before
 * this transaction, and is seen, or after it.
 */
export async function lockAccount(
  trx: Transaction<Database>,
  principalId: number,
): Promise<{ id: number; name: string; epoch: number } | undefined> {
  return trx
    .updateTable('principals')
    .set('enabled', 1)
    .where('id', '=', principalId)
    .where('enabled', '=', 1)
    .returning(['id', 'name', 'credentials_epoch as epoch'])
    .executeTakeFirst()
}

/**
 * Dates the credentials of the accounts anew, which ends their access tokens when instances next look: a token carries
 * the instant that it was issued under. A login that has read the old one makes nothing (`confirmCredentials`).
 */
export async function updateCredentialsDate(
  trx: Transaction<Database>,
  principalIds: readonly number[],
  nowMilliseconds: number,
): Promise<void> {
  await trx
    .updateTable('principals')
    .set({ credentials_changed_at: laterInstant(nowMilliseconds) })
    .where('id', 'in', principalIds)
    .execute()
}

/** One that no credential carries yet, whatever the clock says. */
function laterInstant(nowMilliseconds: number) {
  return sql<number>`case when credentials_changed_at < ${nowMilliseconds}
    then ${nowMilliseconds} else credentials_changed_at + 1 end`
}

/**
 * Returns the epoch of the account. Throws `invalid-credentials` unless the user is still enabled and has the
 * credentials that were checked. A write that changes nothing locks the principal: a disable or a new password comes
 * either first, and is seen, or after this transaction, and ends what it made.
 */
export async function confirmCredentials(
  trx: Transaction<Database>,
  expected: CheckedCredentials,
): Promise<number> {
  const [locked] = (await lockCredentials(trx, expected)).rows
  if (locked === undefined) throw new Problem('invalid-credentials')
  return locked.credentials_epoch
}

const lockCredentials = prepared((trx, expected: CheckedCredentials) =>
  trx
    .updateTable('principals')
    .set('enabled', 1)
    .where('id', '=', expected.principalId)
    .where('enabled', '=', 1)
    .where('credentials_changed_at', '=', expected.credentialsChangedAt)
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom('users')
          .select('principal_id')
          .where('principal_id', '=', expected.principalId)
          .where('password_hash', '=', expected.passwordHash),
      ),
    )
    .returning('credentials_epoch'),
)

/**
 * As `updateCredentialsDate`, and ends every session and token family at once, however many there are, by ending the
 * epoch they belong to. The lock of the principal keeps this apart from logins under way (`confirmCredentials`).
 */
export async function revokeCredentials(
  trx: Transaction<Database>,
  principalIds: readonly number[],
  nowMilliseconds: number,
): Promise<void> {
  await trx
    .updateTable('principals')
    .set((eb) => ({
      credentials_changed_at: laterInstant(nowMilliseconds),
      credentials_epoch: eb('credentials_epoch', '+', 1),
    }))
    .where('id', 'in', principalIds)
    .execute()
}
