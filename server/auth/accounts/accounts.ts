import type { Kysely, Transaction } from '#kysely'
import type { EventKind, Stamp } from '../../audit/event.ts'
import { recordEvent } from '../../audit/events.ts'
import type { Database } from '../../db/tables.ts'
import { keepAdministrator } from './roles/administrators.ts'
import type { Refusal } from './roles/refusal.ts'
import { accepted } from './roles/refusals.ts'
import { refuseUnknownRoles } from './roles/roles.ts'
import { deleteRoles, insertRoles, rolesOf, takeRolesFromSessions } from './roles/store.ts'
import {
  type Account,
  type AccountReference,
  findAccount,
  raiseVersion,
  revokeCredentials,
  updateCredentialsDate,
  updateEnabled,
  voidLink,
} from './store.ts'

/**
 * Who there is: users, service clients, and the roles that say what they may do. Every change holds the lock of
 * administration or of its account, and leaves one event.
 */
type Trx = Transaction<Database>

/** `changed` is false when the account was in that state already. Throws `last-administrator`. */
export function setAccountEnabled(
  trx: Trx,
  { enabled, stamp, ...input }: { account: AccountReference; enabled: boolean; stamp: Stamp },
): Promise<{ name: string; changed: boolean } | Refusal> {
  return keepAdministrator(trx, stamp, async () => {
    const account = await accountOf(trx, input.account)
    if ('refused' in account) return account
    const changed = await switchAccount(trx, account.id, enabled, stamp.nowMilliseconds)
    if (changed) await recordChange(trx, stamp, enabled ? 'enabled' : 'disabled', account)
    return { name: account.name, changed }
  })
}

/** False when the account was in that state already. Disabling ends every credential. */
export async function switchAccount(
  trx: Trx,
  id: number,
  enabled: boolean,
  nowMilliseconds: number,
): Promise<boolean> {
  const changed = await updateEnabled(trx, id, enabled)
  if (changed && !enabled) {
    await revokeCredentials(trx, [id], nowMilliseconds)
    await voidLink(trx, id)
  }
  return changed
}

export interface ChangeRolesInput {
  account: AccountReference
  roles: string[]
  stamp: Stamp
}

type ChangedRoles = { name: string; changed: string[]; roles: string[] }

/** `changed` names the roles that the account did not have; they show at the next refresh or sign-in. */
export function grantRoles(trx: Trx, input: ChangeRolesInput): Promise<ChangedRoles | Refusal> {
  return changeRoles(trx, input, 'roles-granted', (id) => insertRoles(trx, id, input.roles))
}

/** `changed` names the roles that the account had. Throws `last-administrator`. */
export function revokeRoles(trx: Trx, input: ChangeRolesInput): Promise<ChangedRoles | Refusal> {
  return changeRoles(trx, input, 'roles-revoked', (id) =>
    takeRoles(trx, id, input.roles, input.stamp.nowMilliseconds),
  )
}

/**
 * Returns the roles that the account had. Sessions lose them at once and go on with what is left, as token families do,
 * whose roles are read at each refresh. Access tokens that hold them end when instances next look at the account.
 */
export async function takeRoles(
  trx: Trx,
  id: number,
  roles: readonly string[],
  nowMilliseconds: number,
): Promise<string[]> {
  const taken = roles.length === 0 ? [] : await deleteRoles(trx, id, roles)
  if (taken.length === 0) return taken
  // Locks the account: a refresh that read the roles before is done, and a later one sees what is left of them.
  await updateCredentialsDate(trx, [id], nowMilliseconds)
  await takeRolesFromSessions(trx, id, taken)
  return taken
}

function changeRoles(
  trx: Trx,
  input: ChangeRolesInput,
  kind: 'roles-granted' | 'roles-revoked',
  change: (principalId: number) => Promise<string[]>,
): Promise<ChangedRoles | Refusal> {
  return keepAdministrator(trx, input.stamp, async () => {
    const account = await accountOf(trx, input.account)
    if ('refused' in account) return account
    const unknown = await refuseUnknownRoles(trx, input.roles)
    if (unknown !== undefined) return unknown
    const changed = await change(account.id)
    if (changed.length > 0) await recordChange(trx, input.stamp, kind, account, { roles: changed })
    return { name: account.name, changed, roles: await rolesOf(trx, account.id) }
  })
}

/** The event of a change of what is there already, which is a new version of the account. */
export async function recordChange(
  trx: Trx,
  stamp: Stamp,
  kind: EventKind<'account'>,
  account: Pick<Account, 'id' | 'name'>,
  data: AccountData = {},
): Promise<number> {
  await recordAccount(trx, stamp, kind, account, data)
  return raiseVersion(trx, account.id)
}

/** Names, roles and numbers only: the log is read by others than those who may know an email, or a hash. */
export interface AccountData {
  roles?: string[]
  dropped?: number
  formerName?: string
  email?: 'changed'
  timeZone?: string | null
  granted?: string[]
  revoked?: string[]
  enabled?: boolean
  displayName?: string | null
  endsAt?: string | null
}

export function recordAccount(
  trx: Trx,
  stamp: Stamp,
  kind: EventKind<'account'>,
  { id, name }: Pick<Account, 'id' | 'name'>,
  data: AccountData = {},
): Promise<void> {
  return recordEvent(trx, stamp, {
    kind,
    subject: { kind: 'account', id: String(id) },
    data: { name, ...data },
  })
}

/** The account, or the refusal that says there is none. */
export async function accountOf(
  db: Kysely<Database>,
  reference: AccountReference,
): Promise<Account | Refusal> {
  const account = await findAccount(db, reference)
  return account ?? { refused: reference.kind === 'user' ? 'no-such-user' : 'no-such-client' }
}

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
