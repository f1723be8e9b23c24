import type { Kysely } from 'kysely'
import { prepared, unseenNumber } from '../../db/prepared.ts'
import type { Database } from '../../db/tables.ts'

/** Names of a principal's roles, sorted. */
export async function rolesOf(db: Kysely<Database>, principalId: number): Promise<string[]> {
  return (await selectRoles(db, principalId)).map((row) => row.role)
}

const selectRoles = prepared((db, principalId: number) =>
  db
    .selectFrom('principal_roles')
    .select('role')
    .where('principal_id', '=', unseenNumber(principalId))
    .orderBy('role'),
)

/** A user with what a login checks. */
export interface UserCredentials {
  principalId: number
  userName: string
  email: string
  passwordHash: string
  enabled: boolean
  credentialsChangedAt: number
}

/** `email` in lower case, as it is stored. */
export async function findUserByEmail(
  db: Kysely<Database>,
  email: string,
): Promise<UserCredentials | undefined> {
  const row = await db
    .selectFrom('users')
    .innerJoin('principals', 'principals.id', 'users.principal_id')
    .select(['principals.id', 'name', 'email', 'password_hash', 'enabled', 'credentials_changed_at'])
    .where('email', '=', email)
    .executeTakeFirst()
  return (
    row && {
      principalId: row.id,
      userName: row.name,
      email: row.email,
      passwordHash: row.password_hash,
      enabled: row.enabled === 1,
      credentialsChangedAt: row.credentials_changed_at,
    }
  )
}

export interface ClientCredentials {
  principalId: number
  clientId: string
  enabled: boolean
  credentialsChangedAt: number
  secretHashes: string[]
}

/** `clientId` exactly as registered. */
export async function findClient(
  db: Kysely<Database>,
  clientId: string,
): Promise<ClientCredentials | undefined> {
  const rows = await db
    .selectFrom('principals')
    .innerJoin('client_secrets', 'client_secrets.principal_id', 'principals.id')
    .select(['principals.id', 'name', 'enabled', 'credentials_changed_at', 'secret_hash'])
    .where('kind', '=', 'client')
    .where('name', '=', clientId)
    .execute()
  const [first] = rows
  return (
    first && {
      principalId: first.id,
      clientId: first.name,
      enabled: first.enabled === 1,
      credentialsChangedAt: first.credentials_changed_at,
      secretHashes: rows.map((row) => row.secret_hash),
    }
  )
}

/** What a bearer request checks of its principal besides the token. */
export interface PrincipalState {
  id: number
  name: string
  enabled: boolean
  credentialsChangedAt: number
  timeZone: string | null
}

/** `subject` as in a token: the numeric id of a user, the clientId of a service. */
export async function findPrincipalState(
  db: Kysely<Database>,
  subject: string,
): Promise<PrincipalState | undefined> {
  const query = db
    .selectFrom('principals')
    .leftJoin('users', 'users.principal_id', 'principals.id')
    .select(['principals.id', 'name', 'enabled', 'credentials_changed_at', 'time_zone'])
  const numeric = /^[1-9]\d{0,9}$/.test(subject)
  if (numeric && Number(subject) > 2_147_483_647) return undefined
  const row = await (numeric
    ? query.where('principals.id', '=', Number(subject)).where('kind', '=', 'user')
    : query.where('name', '=', subject).where('kind', '=', 'client')
  ).executeTakeFirst()
  return (
    row && {
      id: row.id,
      name: row.name,
      enabled: row.enabled === 1,
      credentialsChangedAt: row.credentials_changed_at,
      timeZone: row.time_zone,
    }
  )
}

/** Every role with its permissions. */
export async function readRolePermissions(
  db: Kysely<Database>,
): Promise<{ role: string; permission: string }[]> {
  return db.selectFrom('role_permissions').select(['role', 'permission']).execute()
}

export async function hasDemoAccounts(db: Kysely<Database>): Promise<boolean> {
  const row = await db.selectFrom('principals').select('id').where('demo', '=', 1).limit(1).executeTakeFirst()
  return row !== undefined
}

/** True once there is an account besides those of the development seed: the database is somebody's. */
export async function hasOwnAccounts(db: Kysely<Database>): Promise<boolean> {
  const row = await db.selectFrom('principals').select('id').where('demo', '=', 0).limit(1).executeTakeFirst()
  return row !== undefined
}
