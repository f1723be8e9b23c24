import type { Transaction } from '#kysely'
import type { Stamp } from '../../../audit/event.ts'
import type { Database } from '../../../db/tables.ts'
import { versionTag } from '../../../http/preconditions.ts'
import { Problem } from '../../../http/problems.ts'
import { type AccountData, recordChange, switchAccount } from '../../accounts/accounts.ts'
import { keepAdministrator } from '../administrators.ts'
import { replaceRoles } from '../changes.ts'
import { lockAccount } from '../store.ts'
import { findUser, type UserAccount, updateEmail, updateTimeZone, updateUserName } from './store.ts'

type Trx = Transaction<Database>

export interface ChangeUserInput {
  id: number
  /** Versions that If-Match accepts; null for any. */
  acceptedVersions: number[] | null
  changes: UserChanges
  stamp: Stamp
}

/** Null for what stays as it is. */
export interface UserChanges {
  userName: string | null
  /** As `normalizeEmail` gives it. */
  email: string | null
  timeZone: { value: string | null } | null
  roles: string[] | null
  enabled: boolean | null
}

/**
 * Changes a user, all of it or nothing, and leaves one event that says what moved; what is so already leaves version and
 * log as they are. Roles are replaced. Disabling ends every credential; losing a role takes it from all of them. Throws
 * `user-not-found`, `precondition-failed`, `name-taken`, `email-taken`, `unknown-role`, `last-administrator`.
 */
export function changeUser(
  trx: Trx,
  { id, acceptedVersions, changes, stamp }: ChangeUserInput,
): Promise<{ version: number }> {
  return keepAdministrator(trx, stamp, async () => {
    const user = await lockedUser(trx, id, acceptedVersions)
    const moved: AccountData = {
      ...(await changeNames(trx, user, changes)),
      ...(await replaceRoles(trx, user, changes.roles, stamp.nowMilliseconds)),
    }
    const { enabled } = changes
    if (enabled !== null && (await switchAccount(trx, id, enabled, stamp.nowMilliseconds)))
      moved.enabled = enabled
    if (Object.keys(moved).length === 0) return { version: user.version }
    const account = { id, name: changes.userName ?? user.userName }
    return { version: await recordChange(trx, stamp, 'user-changed', account, moved) }
  })
}

async function lockedUser(trx: Trx, id: number, acceptedVersions: number[] | null): Promise<UserAccount> {
  const isLocked = await lockAccount(trx, 'user', id, acceptedVersions)
  const user = await findUser(trx, id)
  if (user === undefined) throw new Problem('user-not-found')
  if (!isLocked) throw new Problem('precondition-failed', { headers: { etag: versionTag(user.version) } })
  return user
}

async function changeNames(trx: Trx, user: UserAccount, changes: UserChanges): Promise<AccountData> {
  const moved: AccountData = {}
  const { userName, email, timeZone } = changes
  if (userName !== null && userName !== user.userName) {
    if (!(await updateUserName(trx, user.id, userName))) throw new Problem('name-taken')
    moved.formerName = user.userName
  }
  if (email !== null && email !== user.email) {
    if (!(await updateEmail(trx, user.id, email))) throw new Problem('email-taken')
    moved.email = 'changed'
  }
  if (timeZone !== null && timeZone.value !== user.timeZone) {
    await updateTimeZone(trx, user.id, timeZone.value)
    moved.timeZone = timeZone.value
  }
  return moved
}
