import type { Transaction } from '#kysely'
import type { Database } from '../../db/tables.ts'
import { type AccountData, takeRoles } from '../accounts/accounts.ts'
import { refuseUnknownRoles } from '../roles/roles.ts'
import { insertRoles } from '../roles/store.ts'
import { accepted } from './refusals.ts'

/** Gives the account these roles and no others; null leaves them. Returns which it got and lost. Throws `unknown-role`. */
export async function replaceRoles(
  trx: Transaction<Database>,
  account: { id: number; roles: readonly string[] },
  wanted: readonly string[] | null,
  nowMilliseconds: number,
): Promise<Pick<AccountData, 'granted' | 'revoked'>> {
  if (wanted === null) return {}
  accepted((await refuseUnknownRoles(trx, wanted)) ?? {})
  const granted = await insertRoles(trx, account.id, wanted)
  const surplus = account.roles.filter((role) => !wanted.includes(role))
  const revoked = await takeRoles(trx, account.id, surplus, nowMilliseconds)
  return { ...(granted.length > 0 ? { granted } : {}), ...(revoked.length > 0 ? { revoked } : {}) }
}
