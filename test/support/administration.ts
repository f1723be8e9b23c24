import assert from 'node:assert/strict'
import type { Clear } from '../../proof/line.ts'
import { bearerOf, newUser, revokeRoles, type TestUser } from './accounts.ts'
import type { Client } from './client.ts'
import { storedEvents } from './kept-log.ts'
import type { Service } from './service.ts'

/** A user with the role Admin who has just signed in, as a caller with a bearer token. */
export async function newAdministrator(service: Service): Promise<{ user: TestUser; caller: Client }> {
  const user = await newUser(service, { roles: ['Admin'] })
  return { user, caller: await bearerOf(service, user) }
}

/** Leaves only these accounts able to manage accounts. */
export async function leaveAdministrators(service: Service, kept: readonly TestUser[]): Promise<void> {
  const admins = await service.db.read
    .selectFrom('principal_roles')
    .innerJoin('principals', 'principals.id', 'principal_id')
    .select(['principal_id as id', 'name'])
    .where('role', '=', 'Admin')
    .where('kind', '=', 'user')
    .execute()
  for (const { id, name } of admins) {
    if (kept.some((user) => user.id === id)) continue
    const account = { kind: 'user', name } as const
    await revokeRoles(service, { account }, ['Admin'])
  }
}

/** Data and clear of an event, without the caller. */
// biome-ignore lint/suspicious/noExplicitAny: depends on the kind
function factsIn(data: string, clear: string): Record<string, any> {
  const { by: _, for: __, ...names }: Record<string, Clear> = JSON.parse(clear)
  const named = Object.entries(names).map(([name, { value }]) => [name, value])
  return { ...JSON.parse(data), ...Object.fromEntries(named) }
}

/** The account's events in the order of writing, sealed or not. */
export async function accountEvents({ db }: Service, id: number) {
  const events = await storedEvents(db.read, String(id))
  const ofAccount = events.filter(({ subject_kind: kind }) => kind === 'account')
  return ofAccount.map(({ kind, by_id, data, clear }) => ({ kind, byId: by_id, data: factsIn(data, clear) }))
}

/** How many may manage accounts and sign in. */
export async function countAdministrators({ db }: Service): Promise<number> {
  const rows = await db.read
    .selectFrom('principals')
    .innerJoin('users', 'users.principal_id', 'principals.id')
    .innerJoin('principal_roles', 'principal_roles.principal_id', 'principals.id')
    .innerJoin('role_permissions', 'role_permissions.role', 'principal_roles.role')
    .select('principals.id')
    .distinct()
    .where('permission', '=', 'Accounts.Manage')
    .where('enabled', '=', 1)
    .where('password_hash', 'is not', null)
    .execute()
  return rows.length
}

/** The id that the path of a new account ends with. */
export function idOf(answer: { status: number; text: string; body: { id: number } }): number {
  assert.equal(answer.status, 201, answer.text)
  return answer.body.id
}
