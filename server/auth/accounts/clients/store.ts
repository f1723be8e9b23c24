import type { Db, Trx } from '../../../db/tables.ts'
import { type AccountsRequest, type FoundAccounts, findAccountIds } from '../query.ts'
import { foldName, type ListedAccount, selectAccounts, withRoles } from '../store.ts'

export interface ClientCredentials {
  principalId: number
  clientId: string
  enabled: boolean
  credentialsChangedAt: number
  secretHashes: string[]
  /** From this instant on, the client gets no token. */
  endsAt: number | null
  lastUsedAt: number | null
}

/** `clientId` has to match exactly, including case. */
export async function findClient(db: Db, clientId: string): Promise<ClientCredentials | undefined> {
  const rows = await db
    .selectFrom('principals')
    .innerJoin('client_secrets', 'client_secrets.principal_id', 'principals.id')
    .innerJoin('clients', 'clients.principal_id', 'principals.id')
    .leftJoin('client_uses', 'client_uses.principal_id', 'principals.id')
    .select([
      'principals.id as principalId',
      'name as clientId',
      'enabled',
      'credentials_changed_at as credentialsChangedAt',
      'secret_hash',
      'ends_at as endsAt',
      'last_used_at as lastUsedAt',
    ])
    .where('name', '=', clientId)
    .execute()
  const [client] = rows
  if (client === undefined) return undefined
  return { ...client, enabled: client.enabled === 1, secretHashes: rows.map((row) => row.secret_hash) }
}

/** A service client as administrators see it. Instants in milliseconds. */
export interface ClientAccount extends ListedAccount {
  clientId: string
  displayName: string | null
  /** Active secrets: two during a rotation. */
  secrets: number
  endsAt: number | null
  /** When it last got a token, to the minute. */
  lastUsedAt: number | null
  ownerId: number | null
  /** User name of the owner. */
  owner: string | null
}

export async function findClients(
  snapshot: Db,
  request: AccountsRequest,
): Promise<FoundAccounts<ClientAccount>> {
  const { items, totalCount } = await findAccountIds(snapshot, 'client', request)
  return { items: await clientsOf(snapshot, items), totalCount }
}

async function clientsOf(db: Db, ids: readonly number[]): Promise<ClientAccount[]> {
  const rows = await selectAccounts(db, ids)
    .innerJoin('clients', 'clients.principal_id', 'principals.id')
    .leftJoin('client_uses', 'client_uses.principal_id', 'principals.id')
    .select(['principals.name as clientId', 'display_name as displayName'])
    .select(['ends_at as endsAt', 'last_used_at as lastUsedAt', 'owner_id as ownerId'])
    .select((eb) =>
      eb
        .selectFrom('principals as owners')
        .select('owners.name')
        .whereRef('owners.id', '=', 'owner_id')
        .as('owner'),
    )
    .select((eb) =>
      eb
        .selectFrom('client_secrets')
        .select((counted) => counted.fn.countAll<number>().as('count'))
        .whereRef('client_secrets.principal_id', '=', 'principals.id')
        .as('secrets'),
    )
    .execute()
  const clients = await withRoles(db, rows)
  return clients.map((client) => ({ ...client, secrets: Number(client.secrets) }))
}

export async function findClientAccount(db: Db, id: number): Promise<ClientAccount | undefined> {
  return (await clientsOf(db, [id]))[0]
}

interface ClientDetails {
  displayName: string | null
  endsAt: number | null
  ownerId: number | null
}

const columnsOf = ({ displayName, endsAt, ownerId }: ClientDetails) => ({
  display_name: displayName,
  display_name_folded: displayName === null ? null : foldName(displayName),
  ends_at: endsAt,
  owner_id: ownerId,
})

/** The user name; undefined unless the account is an enabled user. */
export async function findOwner(db: Db, id: number): Promise<string | undefined> {
  const owner = await db
    .selectFrom('principals')
    .select('name')
    .where('id', '=', id)
    .where('kind', '=', 'user')
    .where('enabled', '=', 1)
    .executeTakeFirst()
  return owner?.name
}

export async function insertClient(trx: Trx, principalId: number, details: ClientDetails): Promise<void> {
  const values = { principal_id: principalId, ...columnsOf(details) }
  await trx.insertInto('clients').values(values).execute()
}

export async function updateClient(trx: Trx, principalId: number, details: ClientDetails): Promise<void> {
  await trx.updateTable('clients').set(columnsOf(details)).where('principal_id', '=', principalId).execute()
}

/** Records when the client got a token, unless a later time is stored already. */
export async function noteClientUse(
  trx: Trx,
  { principalId, nowMilliseconds }: { principalId: number; nowMilliseconds: number },
): Promise<void> {
  await trx
    .insertInto('client_uses')
    .values({ principal_id: principalId, last_used_at: nowMilliseconds })
    .onConflict((conflict) =>
      conflict
        .column('principal_id')
        .doUpdateSet({ last_used_at: nowMilliseconds })
        .where('client_uses.last_used_at', '<', nowMilliseconds),
    )
    .execute()
}

export async function insertSecret(
  trx: Trx,
  principalId: number,
  secretHash: string,
  nowMilliseconds: number,
): Promise<void> {
  await trx
    .insertInto('client_secrets')
    .values({ principal_id: principalId, secret_hash: secretHash, created_at: nowMilliseconds })
    .execute()
}

/** Deletes all secrets except the `kept` newest, and returns how many. */
export async function deleteOldSecrets(trx: Trx, principalId: number, kept: number): Promise<number> {
  const { numDeletedRows } = await trx
    .deleteFrom('client_secrets')
    .where('principal_id', '=', principalId)
    .where('id', 'not in', (eb) =>
      eb
        .selectFrom('client_secrets as newest')
        .select('newest.id')
        .where('newest.principal_id', '=', principalId)
        .orderBy('newest.id', 'desc')
        .limit(kept),
    )
    .executeTakeFirst()
  return Number(numDeletedRows)
}
