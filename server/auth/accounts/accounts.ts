/**
 * The accounts: users, service clients, and the roles that set their permissions. Every change holds the lock
 * of administration or of its account, and leaves one event. This file has what users and clients share.
 */
import { type EventKind, recordEvent } from '../../audit/audit.ts'
import type { Stamp } from '../../caller/stamp.ts'
import type { Db, Trx } from '../../db/tables.ts'
import { type AcceptedVersions, versionTag } from '../../http/preconditions.ts'
import { Problem } from '../../problems/problems.ts'
import { keepAdministrator, lockAdministration } from './roles/administrators.ts'
import { requireRoles } from './roles/roles.ts'
import { deleteRoles, insertRoles, rolesOf, takeRolesFromSessions } from './roles/store.ts'
import {
  type Account,
  type AccountKind,
  type AccountReference,
  findAccount,
  hasCompanyAccount,
  insertPrincipal,
  keepName,
  type ListedAccount,
  lockVersion,
  raiseVersion,
  revokeCredentials,
  updateCredentialsDate,
  updateEnabled,
  voidLinks,
} from './store.ts'

const notFound = { user: 'user-not-found', client: 'client-not-found' } as const

export interface AddAccountInput {
  roles: string[]
  /** Marks an account whose password or secret is public. */
  demo?: boolean
  stamp: Stamp
}

/**
 * `insertDetails` returns what the event says besides the roles. Throws `name-taken`, `unknown-role`, and
 * what `insertDetails` throws.
 */
export async function addAccount(
  trx: Trx,
  kind: AccountKind,
  { name, roles, demo, stamp }: AddAccountInput & { name: string },
  insertDetails: (id: number) => Promise<AccountData>,
): Promise<{ id: number }> {
  await lockAdministration(trx, stamp)
  await requireRoles(trx, roles)
  const { nowMilliseconds } = stamp
  const id = await insertPrincipal(trx, { kind, name, demo: demo ?? false, nowMilliseconds })
  const details = await insertDetails(id)
  await insertRoles(trx, id, roles)
  await recordAccount(trx, stamp, `${kind}-added`, { id }, { roles, ...details })
  return { id }
}

export interface ChangeAccountInput<Details> {
  /** Roles that follow the claim of a company account. */
  claimRoles?: readonly string[]
  id: number
  acceptedVersions: AcceptedVersions
  /** Null leaves a value as it was. */
  changes: Details & { roles: string[] | null; enabled: boolean | null }
  stamp: Stamp
}

/**
 * Changes an account completely or not at all, and records one event that names what changed. If nothing
 * changes, neither does the version or the log. The given roles replace the old ones. Disabling ends every
 * credential; losing a role takes it from all of them. `changeDetails` returns what it changed. Throws
 * `user-not-found` or `client-not-found`, `precondition-failed`, `unknown-role`, `last-administrator`,
 * `role-follows-claim`, and what `changeDetails` throws.
 */
export function changeAccount<Listed extends ListedAccount>(
  trx: Trx,
  kind: AccountKind,
  { id, acceptedVersions, changes, claimRoles = [], stamp }: ChangeAccountInput<unknown>,
  find: (trx: Trx, id: number) => Promise<Listed | undefined>,
  changeDetails: (account: Listed) => Promise<AccountData>,
): Promise<{ version: number }> {
  return keepAdministrator(trx, stamp, async () => {
    const isLocked = await lockVersion(trx, kind, id, acceptedVersions)
    const account = await find(trx, id)
    if (account === undefined) throw new Problem(notFound[kind])
    if (!isLocked)
      throw new Problem('precondition-failed', { headers: { etag: versionTag(account.version) } })
    const changed: AccountData = {
      ...(await changeDetails(account)),
      ...(await replaceRoles(trx, account, changes.roles, stamp.nowMilliseconds)),
    }
    const { granted = [], revoked = [] } = changed
    await refuseClaimRoles(trx, id, [...granted, ...revoked], claimRoles)
    const { enabled } = changes
    if (enabled !== null && (await switchAccount(trx, id, enabled, stamp.nowMilliseconds)))
      changed.enabled = enabled
    if (Object.keys(changed).length === 0) return { version: account.version }
    return { version: await recordChange(trx, stamp, `${kind}-changed`, { id }, changed) }
  })
}

/** `changed` is false if the account was already in that state. Throws `last-administrator`. */
export function setAccountEnabled(
  trx: Trx,
  { enabled, stamp, ...input }: { account: AccountReference; enabled: boolean; stamp: Stamp },
): Promise<{ name: string; changed: boolean }> {
  return keepAdministrator(trx, stamp, async () => {
    const account = await requireAccount(trx, input.account)
    const changed = await switchAccount(trx, account.id, enabled, stamp.nowMilliseconds)
    if (changed) await recordChange(trx, stamp, enabled ? 'enabled' : 'disabled', account)
    return { name: account.name, changed }
  })
}

/** Returns false if the account was already in that state. Disabling ends every credential. */
async function switchAccount(
  trx: Trx,
  id: number,
  enabled: boolean,
  nowMilliseconds: number,
): Promise<boolean> {
  const changed = await updateEnabled(trx, id, enabled)
  if (changed && !enabled) {
    await revokeCredentials(trx, [id], nowMilliseconds)
    await voidLinks(trx, id)
  }
  return changed
}

export interface ChangeRolesInput {
  account: AccountReference
  roles: string[]
  /** Roles that follow the claim of a company account. */
  claimRoles?: readonly string[]
  stamp: Stamp
}

type ChangedRoles = { name: string; changed: string[]; roles: string[] }

/** `changed` names the roles that the account did not have; they show at the next refresh or sign-in. */
export function grantRoles(trx: Trx, input: ChangeRolesInput): Promise<ChangedRoles> {
  return changeRoles(trx, input, 'roles-granted', (id) => insertRoles(trx, id, input.roles))
}

/** `changed` names the roles that the account had. Throws `last-administrator`. */
export function revokeRoles(trx: Trx, input: ChangeRolesInput): Promise<ChangedRoles> {
  return changeRoles(trx, input, 'roles-revoked', (id) =>
    takeRoles(trx, id, input.roles, input.stamp.nowMilliseconds),
  )
}

function changeRoles(
  trx: Trx,
  input: ChangeRolesInput,
  kind: 'roles-granted' | 'roles-revoked',
  change: (principalId: number) => Promise<string[]>,
): Promise<ChangedRoles> {
  return keepAdministrator(trx, input.stamp, async () => {
    const account = await requireAccount(trx, input.account)
    await requireRoles(trx, input.roles)
    const changed = await change(account.id)
    await refuseClaimRoles(trx, account.id, changed, input.claimRoles ?? [])
    if (changed.length > 0) await recordChange(trx, input.stamp, kind, account, { roles: changed })
    return { name: account.name, changed, roles: await rolesOf(trx, account.id) }
  })
}

/** Throws `role-follows-claim` if one of these roles of a linked account belongs to the provider. */
async function refuseClaimRoles(
  trx: Trx,
  id: number,
  moved: readonly string[],
  claimRoles: readonly string[],
): Promise<void> {
  const owned = moved.filter((role) => claimRoles.includes(role))
  if (owned.length === 0 || !(await hasCompanyAccount(trx, id))) return
  const detail = `The provider decides who has ${owned.join(' and ')}: change it there.`
  throw new Problem('role-follows-claim', { detail })
}

/** Gives the account exactly these roles; null leaves its roles alone. Returns which it got and lost. */
async function replaceRoles(
  trx: Trx,
  account: ListedAccount,
  wanted: readonly string[] | null,
  nowMilliseconds: number,
): Promise<Pick<AccountData, 'granted' | 'revoked'>> {
  if (wanted === null) return {}
  await requireRoles(trx, wanted)
  const granted = await insertRoles(trx, account.id, wanted)
  const surplus = account.roles.filter((role) => !wanted.includes(role))
  const revoked = await takeRoles(trx, account.id, surplus, nowMilliseconds)
  return { ...(granted.length > 0 ? { granted } : {}), ...(revoked.length > 0 ? { revoked } : {}) }
}

/**
 * Returns those of the roles that the account had. Sessions lose them at once and keep the rest; so do token
 * families, because each refresh reads the roles. Access tokens that hold them end when instances next read
 * the account.
 */
export async function takeRoles(
  trx: Trx,
  id: number,
  roles: readonly string[],
  nowMilliseconds: number,
): Promise<string[]> {
  const taken = roles.length === 0 ? [] : await deleteRoles(trx, id, roles)
  if (taken.length === 0) return taken
  // Locks the account. A refresh that read the old roles has finished by now, and a later one reads the
  // remaining roles.
  await updateCredentialsDate(trx, [id], nowMilliseconds)
  await takeRolesFromSessions(trx, id, taken)
  return taken
}

/** Records a change of an existing account, and returns the new version of the account. */
export async function recordChange(
  trx: Trx,
  stamp: Stamp,
  kind: EventKind<'account'>,
  account: Pick<Account, 'id'>,
  data: AccountData = {},
): Promise<number> {
  await recordAccount(trx, stamp, kind, account, data)
  return raiseVersion(trx, account.id)
}

/** Names, roles and numbers only: not everyone who reads the log may see an email or a password's hash. */
export interface AccountData {
  roles?: string[]
  dropped?: number
  formerName?: string
  /** Null if the user has none from now on. */
  printedName?: string | null
  email?: 'changed'
  timeZone?: string | null
  granted?: string[]
  revoked?: string[]
  enabled?: boolean
  displayName?: string | null
  endsAtUtc?: string | null
  owner?: string | null
  ownerId?: number | null
  from?: string
  until?: string
  deputy?: string
  deputyId?: number
  passkeys?: string[]
  mailed?: true
  passkey?: PasskeyData
  passkeyName?: string
  /** The issuer of a company account. */
  company?: string
  companySubject?: string
  /** Whether a company account was unlinked with all else. */
  unlinked?: true
  /** The name of the account that set the password that a passkey rests on. */
  passwordSetBy?: string
}

/** A passkey as the log has it: enough to check a signature without the service. */
export interface PasskeyData {
  id: string
  /** JWK (RFC 7517). */
  publicKey?: Record<string, string>
  aaguid?: string
  synced?: boolean
  backedUp?: boolean
  /**
   * What its owner had last given: a passkey, a company account, or a password, and whether that was set by
   * a mailed link or by someone else: an account, or null for a command line.
   */
  restedOn?:
    | { passkey: string }
    /** Its issuer. Verifiers of 1.0 ask for a passkey or a password. */
    | { company: string; password: 'none' }
    | { password: 'own' | 'mailed' }
    | { password: 'set'; passwordSetBy: number | null }
}

/** The event has the name that the account has then. */
export async function recordAccount(
  trx: Trx,
  stamp: Stamp,
  kind: EventKind<'account'>,
  { id }: Pick<Account, 'id'>,
  data: AccountData = {},
): Promise<void> {
  const name = await keepName(trx, id)
  await recordEvent(trx, stamp, {
    kind,
    subject: { kind: 'account', id: String(id) },
    facts: { name, ...data },
  })
}

/** Throws `user-not-found` or `client-not-found`, with the name or email that was asked for. */
export async function requireAccount(db: Db, reference: AccountReference): Promise<Account> {
  const account = await findAccount(db, reference)
  if (account !== undefined) return account
  const { kind } = reference
  if ('id' in reference) throw new Problem(notFound[kind])
  const name = 'name' in reference ? reference.name : reference.email
  throw new Problem(notFound[kind], { detail: `There is no ${kind} ${name}.` })
}
