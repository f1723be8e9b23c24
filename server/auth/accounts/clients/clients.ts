/** Service clients: each has at most two secrets, which are stored as hashes, and may have an end date. */
import type { Transaction } from '#kysely'
import type { Stamp } from '../../../audit/audit.ts'
import { formatInstantOrNull } from '../../../clock.ts'
import type { Database } from '../../../db/tables.ts'
import {
  type AddAccountInput,
  addAccount,
  type ChangeAccountInput,
  changeAccount,
  recordChange,
  requireAccount,
} from '../accounts.ts'
import { lockAdministration } from '../roles/administrators.ts'
import { type AccountReference, clearDemoMark, revokeCredentials, updateCredentialsDate } from '../store.ts'
import { deleteOldSecrets, findClientAccount, insertClient, insertSecret, updateClient } from './store.ts'

type Trx = Transaction<Database>

export interface AddClientInput extends AddAccountInput {
  clientId: string
  /** Display name. */
  name?: string | null
  /** From then on it gets no token. */
  endsAt?: number | null
  secretHash: string
}

/** Throws `name-taken`, `unknown-role`. */
export function addClient(trx: Trx, input: AddClientInput): Promise<{ id: number }> {
  const { clientId, name = null, endsAt = null, secretHash, stamp } = input
  return addAccount(trx, 'client', { ...input, name: clientId }, async (id) => {
    await insertClient(trx, id, { name, endsAt })
    await insertSecret(trx, id, secretHash, stamp.nowMilliseconds)
  })
}

/** Null for what stays. */
export interface ClientChanges {
  name: { value: string | null } | null
  endsAtUtc: { value: number | null } | null
}

/** As `changeAccount`. The clientId stays, because it is the subject of the tokens. */
export function changeClient(
  trx: Trx,
  input: ChangeAccountInput<ClientChanges>,
): Promise<{ version: number }> {
  const { changes, stamp } = input
  return changeAccount(trx, 'client', input, findClientAccount, async (client) => {
    const name = changes.name === null ? client.name : changes.name.value
    const endsAt = changes.endsAtUtc === null ? client.endsAt : changes.endsAtUtc.value
    await updateClient(trx, client.id, { name, endsAt })
    // Tokens issued so far have a later end, or none: they are revoked, and the service fetches new ones.
    if (endsAt !== null && endsAt < (client.endsAt ?? Number.POSITIVE_INFINITY)) {
      await updateCredentialsDate(trx, [client.id], stamp.nowMilliseconds)
    }
    return {
      name: client.clientId,
      ...(name === client.name ? {} : { displayName: name }),
      ...(endsAt === client.endsAt ? {} : { endsAt: formatInstantOrNull(endsAt) }),
    }
  })
}

interface ChangeSecretsInput {
  account: AccountReference<'client'>
  stamp: Stamp
}

export interface RotateClientSecretInput extends ChangeSecretsInput {
  secretHash: string
  /** Ends every earlier secret at once, with the tokens issued for them. */
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
