import type { Kysely, Transaction } from '#kysely'
import type { Database } from '../../../db/tables.ts'
import { foldName } from '../../accounts/store.ts'
import { rolesByPrincipal } from '../../roles/store.ts'

/** A user as administrators see it. Instants in milliseconds. */
export interface UserAccount {
  id: number
  userName: string
  email: string
  roles: string[]
  timeZone: string | null
  enabled: boolean
  /** False until the user has used a link; before, there is no signing in. */
  hasPassword: boolean
  /** The published password of the development seed holds. */
  demo: boolean
  createdAt: number
  version: number
}

/** In the order of their ids: all, or those of a page. */
export async function listUsers(
  db: Kysely<Database>,
  page?: { offset: number; limit: number },
): Promise<UserAccount[]> {
  const all = selectUsers(db).orderBy('principals.id')
  const rows = await (page === undefined ? all : all.limit(page.limit).offset(page.offset)).execute()
  return withRoles(db, rows, page === undefined ? undefined : rows.map(({ id }) => id))
}

export async function findUser(db: Kysely<Database>, id: number): Promise<UserAccount | undefined> {
  const rows = await selectUsers(db).where('principals.id', '=', id).execute()
  const [user] = await withRoles(db, rows, [id])
  return user
}

export async function countUsers(db: Kysely<Database>): Promise<number> {
  const { count } = await db
    .selectFrom('users')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}

function selectUsers(db: Kysely<Database>) {
  return db
    .selectFrom('principals')
    .innerJoin('users', 'users.principal_id', 'principals.id')
    .select([
      'principals.id',
      'name as userName',
      'email',
      'time_zone as timeZone',
      'enabled',
      'demo',
      'created_at as createdAt',
      'version',
    ])
    .select((eb) => eb.case().when('password_hash', 'is', null).then(0).else(1).end().as('hasPassword'))
}

type Row = Awaited<ReturnType<ReturnType<typeof selectUsers>['execute']>>[number]

async function withRoles(db: Kysely<Database>, rows: Row[], ids?: number[]): Promise<UserAccount[]> {
  const roles = await rolesByPrincipal(db, ids)
  return rows.map((row) => ({
    ...row,
    roles: roles.get(row.id) ?? [],
    enabled: row.enabled === 1,
    hasPassword: row.hasPassword === 1,
    demo: row.demo === 1,
  }))
}

/** False when a user or a service has the name, in any case. */
export async function updateUserName(trx: Transaction<Database>, id: number, name: string): Promise<boolean> {
  const folded = foldName(name)
  const { numUpdatedRows } = await trx
    .updateTable('principals')
    .set({ name, name_folded: folded })
    .where('id', '=', id)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('principals as other')
            .select('other.id')
            .where('other.name_folded', '=', folded)
            .where('other.id', '!=', id),
        ),
      ),
    )
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/** False when another user has the email. */
export async function updateEmail(trx: Transaction<Database>, id: number, email: string): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('users')
    .set('email', email)
    .where('principal_id', '=', id)
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('users as other').select('other.principal_id').where('other.email', '=', email))),
    )
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

export async function updateTimeZone(
  trx: Transaction<Database>,
  id: number,
  timeZone: string | null,
): Promise<void> {
  await trx.updateTable('users').set('time_zone', timeZone).where('principal_id', '=', id).execute()
}
