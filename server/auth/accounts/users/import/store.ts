import type { Kysely, Transaction } from '#kysely'
import type { Database } from '../../../../db/tables.ts'
import { Problem } from '../../../../problems/problems.ts'
import { insertHolders } from '../../roles/store.ts'
import { foldName, insertPrincipals } from '../../store.ts'

export interface ImportedUser {
  userName: string
  /** In the form that `normalizeEmail` returns. */
  email: string
  /** Null for a user who will set a password by a link. */
  passwordHash: string | null
  timeZone: string | null
  roles: readonly string[]
}

export interface NewLink {
  email: string
  /** Hash of a new secret, which is shown once and never stored. */
  tokenHash: string
}

/** An account that has one of the names or emails. A service has no email. */
export interface Holder {
  foldedName: string
  email: string | null
}

export async function findHolders(
  db: Kysely<Database>,
  users: readonly Pick<ImportedUser, 'userName' | 'email'>[],
): Promise<Holder[]> {
  const accounts = db
    .selectFrom('principals')
    .leftJoin('users', 'users.principal_id', 'principals.id')
    .select(['name_folded as foldedName', 'email'])
  const names = users.map(({ userName }) => foldName(userName))
  const emails = users.map(({ email }) => email)
  return [
    ...(await accounts.where('name_folded', 'in', names).execute()),
    ...(await accounts.where('email', 'in', emails).execute()),
  ]
}

/** Returns the ids of the users, in their order. Throws `name-taken`, `email-taken`. */
export async function insertAll(
  trx: Transaction<Database>,
  users: readonly ImportedUser[],
  nowMilliseconds: number,
): Promise<number[]> {
  const names = users.map(({ userName }) => userName)
  const ids = await insertPrincipals(trx, { kind: 'user', names, demo: false, nowMilliseconds })
  const { numInsertedOrUpdatedRows } = await trx
    .insertInto('users')
    .values(
      users.map(({ email, passwordHash, timeZone }, index) => ({
        principal_id: ids[index] ?? 0,
        email,
        password_hash: passwordHash,
        password_set_by: null,
        time_zone: timeZone,
      })),
    )
    .onConflict((conflict) => conflict.column('email').doNothing())
    .executeTakeFirstOrThrow()
  if (numInsertedOrUpdatedRows !== BigInt(users.length)) throw new Problem('email-taken')
  const roles = users.flatMap((user, index) =>
    user.roles.map((role) => ({ principal_id: ids[index] ?? 0, role })),
  )
  await insertHolders(trx, roles)
  return ids
}

/** The enabled users with these emails who have no password, locked as `lockAccount` locks one. */
export async function lockWithoutPassword(
  trx: Transaction<Database>,
  emails: readonly string[],
): Promise<{ id: number; name: string; email: string }[]> {
  const found = await trx
    .selectFrom('users')
    .select(['principal_id as id', 'email'])
    .where('email', 'in', emails)
    .where('password_hash', 'is', null)
    .execute()
  if (found.length === 0) return []
  const emailOf = new Map(found.map(({ id, email }) => [id, email]))
  const locked = await trx
    .updateTable('principals')
    .set('enabled', 1)
    .where('id', 'in', [...emailOf.keys()])
    .where('enabled', '=', 1)
    .returning(['id', 'name'])
    .execute()
  return locked.map(({ id, name }) => ({ id, name, email: emailOf.get(id) ?? '' }))
}

export async function replaceLinks(
  trx: Transaction<Database>,
  links: readonly (NewLink & { id: number })[],
  { madeBy, expiresAt }: { madeBy: string; expiresAt: number },
): Promise<void> {
  if (links.length === 0) return
  await trx
    .insertInto('one_time_links')
    .values(
      links.map(({ id, tokenHash }) => ({
        principal_id: id,
        kind: 'shown' as const,
        token_hash: tokenHash,
        made_by: madeBy,
        expires_at: expiresAt,
      })),
    )
    .onConflict((conflict) =>
      conflict.columns(['principal_id', 'kind']).doUpdateSet((eb) => ({
        token_hash: eb.ref('excluded.token_hash'),
        made_by: eb.ref('excluded.made_by'),
        expires_at: eb.ref('excluded.expires_at'),
      })),
    )
    .execute()
}

/** Stores another hash of the same password, unless the user has a new password or hash by now. */
export async function renewPasswordHash(
  trx: Transaction<Database>,
  { principalId, from, to }: { principalId: number; from: string; to: string },
): Promise<void> {
  await trx
    .updateTable('users')
    .set('password_hash', to)
    .where('principal_id', '=', principalId)
    .where('password_hash', '=', from)
    .execute()
}
