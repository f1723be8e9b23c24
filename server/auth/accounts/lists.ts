import type { Kysely } from 'kysely'
import type { Database } from '../../db/tables.ts'
import { readRolePermissions } from './store.ts'

export interface ListedUser {
  id: number
  userName: string
  email: string
  roles: string[]
  timeZone: string | null
  enabled: boolean
  /** Made by the development seed, and its published password still holds. */
  demo: boolean
  createdAt: number
}

/** Every user, in the order of their ids. */
export async function listUsers(db: Kysely<Database>): Promise<ListedUser[]> {
  const rows = await db
    .selectFrom('principals')
    .innerJoin('users', 'users.principal_id', 'principals.id')
    .select(['principals.id', 'name', 'email', 'time_zone', 'enabled', 'demo', 'created_at'])
    .orderBy('principals.id')
    .execute()
  const roles = await rolesByPrincipal(db)
  return rows.map((row) => ({
    id: row.id,
    userName: row.name,
    email: row.email,
    roles: roles.get(row.id) ?? [],
    timeZone: row.time_zone,
    enabled: row.enabled === 1,
    demo: row.demo === 1,
    createdAt: row.created_at,
  }))
}

export interface ListedClient {
  id: number
  clientId: string
  roles: string[]
  /** How many secrets are active: two during a rotation. */
  secrets: number
  enabled: boolean
  /** Made by the development seed, and its published secret still holds. */
  demo: boolean
  createdAt: number
}

/** Every service client, in the order of their ids. */
export async function listClients(db: Kysely<Database>): Promise<ListedClient[]> {
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

export interface ListedRole {
  role: string
  permissions: string[]
}

/** Every role, those without permissions included, by name. */
export async function listRoles(db: Kysely<Database>): Promise<ListedRole[]> {
  const roles = await db.selectFrom('roles').select('name').orderBy('name').execute()
  const held = await readRolePermissions(db)
  return roles.map(({ name }) => ({
    role: name,
    permissions: held
      .filter((row) => row.role === name)
      .map((row) => row.permission)
      .sort(),
  }))
}

async function rolesByPrincipal(db: Kysely<Database>): Promise<Map<number, string[]>> {
  const rows = await db
    .selectFrom('principal_roles')
    .select(['principal_id', 'role'])
    .orderBy('role')
    .execute()
  const roles = new Map<number, string[]>()
  for (const row of rows) roles.set(row.principal_id, [...(roles.get(row.principal_id) ?? []), row.role])
  return roles
}
