/** The part of an erasure that is about the account of a person. */
import { nameOfErased } from '../../../../proof/line.ts'
import { partOf } from '../../../audit/audit.ts'
import type { Stamp } from '../../../caller/stamp.ts'
import type { Trx } from '../../../db/tables.ts'
import { Problem } from '../../../problems/problems.ts'
import { recordAccount } from '../accounts.ts'
import { keepAdministrator, lockAdministration } from '../roles/administrators.ts'
import { raiseVersion, revokeCredentials, updateEnabled, voidLinks } from '../store.ts'
import { deletePasskeys, deleteTraces, findUser, forgetUser } from './store.ts'

/**
 * Disables the account and takes everything from it that says who the person was: name, email, password,
 * passkeys, time zone, sign-ins, absences, views, settings and waiting mail. False if it was erased before.
 * Throws `user-not-found`, and `last-administrator` unless it may be the last.
 */
export function eraseUser(
  trx: Trx,
  { id, stamp, mayBeLast }: { id: number; stamp: Stamp; mayBeLast?: true },
): Promise<boolean> {
  const work = async () => {
    const user = await findUser(trx, id)
    if (user === undefined) throw new Problem('user-not-found', { detail: `There is no user ${id}.` })
    await updateEnabled(trx, id, false)
    await revokeCredentials(trx, [id], stamp.nowMilliseconds)
    await voidLinks(trx, id)
    const name = nameOfErased(id)
    if (!(await forgetUser(trx, id, name, stamp.nowMilliseconds))) return false
    const passkeys = await deletePasskeys(trx, id)
    // Otherwise, by the log alone, a later signature with one of them would count.
    if (passkeys.length > 0) {
      await recordAccount(trx, partOf(stamp, 1), 'disabled', { id }, { passkeys })
    }
    await deleteTraces(trx, id, user.email)
    await raiseVersion(trx, id)
    return true
  }
  return mayBeLast ? lockAdministration(trx, stamp).then(work) : keepAdministrator(trx, stamp, work)
}
