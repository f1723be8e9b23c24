import type { Transaction } from '#kysely'
import type { Stamp } from '../../../audit/event.ts'
import { formatInstantOrNull } from '../../../clock.ts'
import type { Database } from '../../../db/tables.ts'
import { versionTag } from '../../../http/preconditions.ts'
import { Problem } from '../../../http/problems.ts'
import { type AccountData, recordChange, switchAccount } from '../../accounts/accounts.ts'
import { updateCredentialsDate } from '../../credentials/store.ts'
import { keepAdministrator } from '../administrators.ts'
import { replaceRoles } from '../changes.ts'
import { lockAccount } from '../store.ts'
import { type ClientAccount, findClientAccount, updateClient } from './store.ts'

type Trx = Transaction<Database>

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
  const isLocked = await lockAccount(trx, 'client', id, acceptedVersions)
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
