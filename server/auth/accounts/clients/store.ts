import type { Kysely, Transaction } from '#kysely'
import type { Database } from '../../../db/tables.ts'
import { type ListedAccount, selectAccounts, type Which, withRoles } from '../store.ts'

export interface ClientCredentials {
  principalId: number
  clientId: string
  enabled: boolean
  credentialsChangedAt: number
  secretHashes: string[]
  /** From then on it gets no token. */
  endsAt: number | null
  lastUsedAt: number | null
}

/** `clientId` exactly as registered, case included. */
export async function findClient(
  db: Kysely<Database>,
  clientId: string,
): Promise<ClientCredentials | undefined> {
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
    .where('kind', '=', 'client')
    .where('name', '=', clientId)
    .execute()
  const [client] = rows
  if (client === undefined) return undefined
  return { ...client, enabled: client.enabled === 1, secretHashes: rows.map((row) => row.secret_hash) }
}

/** A service client as administrators see it. Instants in milliseconds. */
export interface ClientAccount extends ListedAccount {
  clientId: string
  /** Display name. */
  name: string | null
  /** Active secrets: two during a rotation. */
  secrets: number
  endsAt: number | null
  /** When it last got a token, to the minute. */
  lastUsedAt: number | null
}

export async function listClients(db: Kysely<Database>, which: Which = 'all'): Promise<ClientAccount[]> {
  const rows = await selectAccounts(db, which)
    .innerJoin('clients', 'clients.principal_id', 'principals.id')
    .leftJoin('client_uses', 'client_uses.principal_id', 'principals.id')
    .select(['principals.name as clientId', 'display_name as name'])
    .select(['ends_at as endsAt', 'last_used_at as lastUsedAt'])
    .select((eb) =>
      eb
        .selectFrom('client_secrets')
        .select((counted) => counted.fn.countAll<number>().as('count'))
        .whereRef('client_secrets.principal_id', '=', 'principals.id')
        .as('secrets'),
    )
    .execute()
  const clients = await withRoles(db, rows, which)
  return clients.map((client) => ({ ...client, secrets: Number(client.secrets) }))
}

export async function findClientAccount(
  db: Kysely<Database>,
  id: number,
): Promise<ClientAccount | undefined> {
  return (await listClients(db, { id }))[0]
}

export async function insertClient(
  trx: Transaction<Database>,
  principalId: number,
  { name, endsAt }: { name: string | null; endsAt: number | null },
): Promise<void> {
  const values = { principal_id: principalId, display_name: name, ends_at: endsAt }
  await trx.insertInto('clients').values(values).execute()
}

export async function updateClient(
  trx: Transaction<Database>,
  principalId: number,
  { name, endsAt }: { name: string | null; endsAt: number | null },
): Promise<void> {
  await trx
    .updateTable('clients')
    .set({ display_name: name, ends_at: endsAt })
    .where('principal_id', '=', principalId)
    .execute()
}

/** Notes that the client got a token; a later instant stays. */
export async function noteClientUse(
  trx: Transaction<Database>,
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
  trx: Transaction<Database>,
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
export async function deleteOldSecrets(
  trx: Transaction<Database>,
  principalId: number,
  kept: number,
): Promise<number> {
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
