import type { Transaction } from '#kysely'
import type { Stamp } from '../../../audit/event.ts'
import { formatInstantOrNull } from '../../../clock.ts'
import type { Database } from '../../../db/tables.ts'
import { versionTag } from '../../../http/preconditions.ts'
import { Problem } from '../../../http/problems.ts'
import {
  type AccountData,
  accountOf,
  recordAccount,
  recordChange,
  replaceRoles,
  switchAccount,
} from '../accounts.ts'
import { keepAdministrator, lockAdministration } from '../roles/administrators.ts'
import type { Refusal } from '../roles/refusal.ts'
import { refuseUnknownRoles } from '../roles/roles.ts'
import { insertRoles } from '../roles/store.ts'
import {
  clearDemoMark,
  insertPrincipal,
  lockVersion,
  revokeCredentials,
  updateCredentialsDate,
} from '../store.ts'
import {
  type ClientAccount,
  deleteOldSecrets,
  findClientAccount,
  insertClient,
  insertSecret,
  updateClient,
} from './store.ts'

type Trx = Transaction<Database>

export interface AddClientInput {
  clientId: string
  /** What people call it. */
  name?: string | null
  /** From then on it gets no token. */
  endsAt?: number | null
  secretHash: string
  roles: string[]
  demo?: boolean
  stamp: Stamp
}

export async function addClient(trx: Trx, input: AddClientInput): Promise<{ id: number } | Refusal> {
  await lockAdministration(trx, input.stamp)
  const unknown = await refuseUnknownRoles(trx, input.roles)
  if (unknown !== undefined) return unknown
  const { clientId: name, secretHash, roles, stamp } = input
  const { nowMilliseconds } = stamp
  const id = await insertPrincipal(trx, { ...input, kind: 'client', name, nowMilliseconds })
  if (id === undefined) return { refused: 'name-taken' }
  await insertClient(trx, id, { name: input.name ?? null, endsAt: input.endsAt ?? null })
  await insertSecret(trx, id, secretHash, nowMilliseconds)
  await insertRoles(trx, id, roles)
  await recordAccount(trx, stamp, 'client-added', { id, name }, { roles })
  return { id }
}

export interface ChangeClientInput {
  id: number
  /** Versions that If-Match accepts; null for any. */
  acceptedVersions: number[] | null
  changes: ClientChanges
  stamp: Stamp
}

/** Null for what stays as it is. */
export interface ClientChanges {
  name: { value: string | null } | null
  endsAtUtc: { value: number | null } | null
  roles: string[] | null
  enabled: boolean | null
}

/**
 * Changes a service client, as `changeUser` does a user. Its clientId stays: it is the subject of its tokens. Throws
 * `client-not-found`, `precondition-failed`, `unknown-role`.
 */
export function changeClient(
  trx: Trx,
  { id, acceptedVersions, changes, stamp }: ChangeClientInput,
): Promise<{ version: number }> {
  return keepAdministrator(trx, stamp, async () => {
    const client = await lockedClient(trx, id, acceptedVersions)
    const moved: AccountData = {
      ...(await changeDetails(trx, client, changes, stamp.nowMilliseconds)),
      ...(await replaceRoles(trx, client, changes.roles, stamp.nowMilliseconds)),
    }
    const { enabled } = changes
    if (enabled !== null && (await switchAccount(trx, id, enabled, stamp.nowMilliseconds)))
      moved.enabled = enabled
    if (Object.keys(moved).length === 0) return { version: client.version }
    const account = { id, name: client.clientId }
    return { version: await recordChange(trx, stamp, 'client-changed', account, moved) }
  })
}

async function lockedClient(trx: Trx, id: number, acceptedVersions: number[] | null): Promise<ClientAccount> {
  const isLocked = await lockVersion(trx, 'client', id, acceptedVersions)
  const client = await findClientAccount(trx, id)
  if (client === undefined) throw new Problem('client-not-found')
  if (!isLocked) throw new Problem('precondition-failed', { headers: { etag: versionTag(client.version) } })
  return client
}

async function changeDetails(
  trx: Trx,
  client: ClientAccount,
  changes: ClientChanges,
  nowMilliseconds: number,
): Promise<AccountData> {
  const name = changes.name === null ? client.name : changes.name.value
  const endsAt = changes.endsAtUtc === null ? client.endsAt : changes.endsAtUtc.value
  await updateClient(trx, client.id, { name, endsAt })
  // Tokens issued so far carry the later end, or none: they are revoked, and the service fetches others.
  if (endsAt !== null && endsAt < (client.endsAt ?? Number.POSITIVE_INFINITY)) {
    await updateCredentialsDate(trx, [client.id], nowMilliseconds)
  }
  return {
    ...(name === client.name ? {} : { displayName: name }),
    ...(endsAt === client.endsAt ? {} : { endsAt: formatInstantOrNull(endsAt) }),
  }
}

export interface RotateClientSecretInput {
  clientId: string
  secretHash: string
  /** Ends every earlier secret at once, and the tokens that they bought. */
  dropOld: boolean
  stamp: Stamp
}

/**
 * Adds a secret beside the newest one: at most two are active, an older one is dropped. A demo client's published
 * secret never stays. Whenever a secret is dropped, the access tokens issued so far end too.
 */
export async function rotateClientSecret(
  trx: Trx,
  { clientId, secretHash, dropOld, stamp }: RotateClientSecretInput,
): Promise<{ name: string; dropped: number } | Refusal> {
  await lockAdministration(trx, stamp)
  const account = await accountOf(trx, { kind: 'client', name: clientId })
  if ('refused' in account) return account
  const wasDemo = await clearDemoMark(trx, account.id)
  await insertSecret(trx, account.id, secretHash, stamp.nowMilliseconds)
  const dropped = await dropSecrets(trx, account.id, dropOld || wasDemo ? 1 : 2, stamp.nowMilliseconds)
  await recordChange(trx, stamp, 'secret-rotated', account, { dropped })
  return { name: account.name, dropped }
}

/** Ends a rotation: only the newest secret stays. */
export async function dropOldClientSecrets(
  trx: Trx,
  { clientId, stamp }: { clientId: string; stamp: Stamp },
): Promise<{ name: string; dropped: number } | Refusal> {
  await lockAdministration(trx, stamp)
  const account = await accountOf(trx, { kind: 'client', name: clientId })
  if ('refused' in account) return account
  const dropped = await dropSecrets(trx, account.id, 1, stamp.nowMilliseconds)
  if (dropped > 0) await recordChange(trx, stamp, 'secrets-dropped', account, { dropped })
  return { name: account.name, dropped }
}

async function dropSecrets(trx: Trx, principalId: number, kept: number, now: number): Promise<number> {
  const dropped = await deleteOldSecrets(trx, principalId, kept)
  if (dropped > 0) await revokeCredentials(trx, [principalId], now)
  return dropped
}
