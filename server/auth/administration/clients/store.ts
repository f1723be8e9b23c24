import type { Kysely } from 'kysely'
import type { Database } from '../../../db/tables.ts'
import { rolesByPrincipal } from '../../roles/store.ts'

/** Every service client, in the order of their ids; `secrets` is how many are active: two during a rotation. */
export async function listClients(db: Kysely<Database>) {
  const rows = await db
    .selectFrom('principals')
    .leftJoin('client_secrets', 'client_secrets.principal_id', 'principals.id')
    .select(['principals.id', 'name', 'enabled', 'demo', 'principals.created_at'])
    .select((eb) => eb.fn.count<number>('client_secrets.id').as('secrets'))
    .where('kind', '=', 'client')
    .groupBy('principals.id')
    .orderBy('principals.id')
    .execute()
  const roles = await rolesByPrincipal(db)
  return rows.map((row) => ({
    id: row.id,
    clientId: row.name,
    roles: roles.get(row.id) ?? [],
    secrets: Number(row.secrets),
    enabled: row.enabled === 1,
    demo: row.demo === 1,
    createdAt: row.created_at,
  }))
}
