/**
 * Service clients: each has at most two secrets, which are stored as hashes, and may have an end date and an
 * owner.
 */
import type { Stamp } from '../../../caller/stamp.ts'
import { formatInstantOrNull } from '../../../clock.ts'
import type { Trx } from '../../../db/tables.ts'
import { Problem } from '../../../problems/problems.ts'
import {
  type AccountData,
  type AddAccountInput,
  addAccount,
  type ChangeAccountInput,
  changeAccount,
  recordChange,
  requireAccount,
} from '../accounts.ts'
import { lockAdministration } from '../roles/administrators.ts'
import { type AccountReference, clearDemoMark, revokeCredentials, updateCredentialsDate } from '../store.ts'
import {
  deleteOldSecrets,
  findClientAccount,
  findOwner,
  insertClient,
  insertSecret,
  updateClient,
} from './store.ts'

export interface AddClientInput extends AddAccountInput {
  clientId: string
  displayName?: string | null
  /** From this instant on, the client gets no token. */
  endsAt?: number | null
  /** The person who counts as creator of the orders that the client creates. */
  ownerId?: number | null
  secretHash: string
}

/** Throws `name-taken`, `unknown-role`, `not-an-owner`. */
export function addClient(trx: Trx, input: AddClientInput): Promise<{ id: number }> {
  const { clientId, displayName = null, endsAt = null, ownerId = null, secretHash, stamp } = input
  return addAccount(trx, 'client', { ...input, name: clientId }, async (id) => {
    const owned = ownerId === null ? {} : await ownerData(trx, ownerId)
    await insertClient(trx, id, { displayName, endsAt, ownerId })
    await insertSecret(trx, id, secretHash, stamp.nowMilliseconds)
    return owned
  })
}

/** The data of an event about an owner. Throws `not-an-owner` unless the account is an enabled user. */
async function ownerData(trx: Trx, ownerId: number | null): Promise<Pick<AccountData, 'owner' | 'ownerId'>> {
  if (ownerId === null) return { owner: null, ownerId }
  const owner = await findOwner(trx, ownerId)
  if (owner === undefined) throw new Problem('not-an-owner')
  return { owner, ownerId }
}

/** Null leaves a value as it was. */
export interface ClientChanges {
  displayName: { value: string | null } | null
  endsAtUtc: { value: number | null } | null
  ownerId: { value: number | null } | null
}

/**
 * Like `changeAccount`, but may also throw `not-an-owner`. The clientId cannot change, because it is the
 * subject of the tokens.
 */
export function changeClient(
  trx: Trx,
  input: ChangeAccountInput<ClientChanges>,
): Promise<{ version: number }> {
  const { changes, stamp } = input
  return changeAccount(trx, 'client', input, findClientAccount, async (client) => {
    const displayName = changes.displayName === null ? client.displayName : changes.displayName.value
    const endsAt = changes.endsAtUtc === null ? client.endsAt : changes.endsAtUtc.value
    const ownerId = changes.ownerId === null ? client.ownerId : changes.ownerId.value
    const owned = ownerId === client.ownerId ? {} : await ownerData(trx, ownerId)
    await updateClient(trx, client.id, { displayName, endsAt, ownerId })
    // Tokens issued so far may outlive the new end. They are revoked, and the service fetches new ones.
    if (endsAt !== null && endsAt < (client.endsAt ?? Number.POSITIVE_INFINITY)) {
      await updateCredentialsDate(trx, [client.id], stamp.nowMilliseconds)
    }
    return {
      ...(displayName === client.displayName ? {} : { displayName }),
      ...(endsAt === client.endsAt ? {} : { endsAtUtc: formatInstantOrNull(endsAt) }),
      ...owned,
    }
  })
}

interface ChangeSecretsInput {
  account: AccountReference<'client'>
  stamp: Stamp
}

export interface RotateClientSecretInput extends ChangeSecretsInput {
  secretHash: string
  /** Ends all earlier secrets at once, and the tokens issued for them. */
  dropOld: boolean
}

/**
 * Adds a secret. At most two are active, the newest and the one before; the published secret of a demo client
 * is dropped at once. Whenever a secret is dropped, the access tokens issued so far end too. Throws
 * `client-not-found`.
 */
export async function rotateClientSecret(
  trx: Trx,
  { account: reference, secretHash, dropOld, stamp }: RotateClientSecretInput,
): Promise<{ name: string; dropped: number }> {
  await lockAdministration(trx, stamp)
  const account = await requireAccount(trx, reference)
  const wasDemo = await clearDemoMark(trx, account.id)
  await insertSecret(trx, account.id, secretHash, stamp.nowMilliseconds)
  const dropped = await dropSecrets(trx, account.id, dropOld || wasDemo ? 1 : 2, stamp.nowMilliseconds)
  await recordChange(trx, stamp, 'secret-rotated', account, { dropped })
  return { name: account.name, dropped }
}

/** Ends a rotation: only the newest secret stays. Throws `client-not-found`. */
export async function dropOldClientSecrets(
  trx: Trx,
  { account: reference, stamp }: ChangeSecretsInput,
): Promise<{ name: string; dropped: number }> {
  await lockAdministration(trx, stamp)
  const account = await requireAccount(trx, reference)
  const dropped = await dropSecrets(trx, account.id, 1, stamp.nowMilliseconds)
  if (dropped > 0) await recordChange(trx, stamp, 'secrets-dropped', account, { dropped })
  return { name: account.name, dropped }
}

async function dropSecrets(trx: Trx, principalId: number, kept: number, now: number): Promise<number> {
  const dropped = await deleteOldSecrets(trx, principalId, kept)
  if (dropped > 0) await revokeCredentials(trx, [principalId], now)
  return dropped
}
