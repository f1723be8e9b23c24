import { type RawBuilder, sql } from '#kysely'
import { withinTime } from '../../db/engine.ts'
import type { Db } from '../../db/tables.ts'
import { type AccountKind, foldName } from './store.ts'

/** Which accounts of a kind to list, in the order of their ids. */
export interface AccountsRequest {
  /** The beginning of a name or an email, ignoring case; null for all accounts. */
  filter: string | null
  /** Only accounts after this id; `totalCount` counts the others too. */
  afterId?: number
  offset: number
  limit: number
}

export interface FoundAccounts<Item> {
  items: Item[]
  totalCount: number
}

/** The ids of the accounts, from indexes alone. */
export async function findAccountIds(
  snapshot: Db,
  kind: AccountKind,
  { filter, ...window }: AccountsRequest,
): Promise<FoundAccounts<number>> {
  if (filter !== null) return findMatches(snapshot, matchesOf[kind](snapshot, foldName(filter)), window)
  const table = `${kind}s` as const
  const counts = await snapshot
    .selectFrom('administration')
    .select(['users', 'clients'])
    .executeTakeFirstOrThrow()
  return { items: await idsOf(snapshot, table, counts[table], window), totalCount: counts[table] }
}

type Window = Omit<AccountsRequest, 'filter'>

/** Counts the page from the nearer end of the table. */
async function idsOf(
  snapshot: Db,
  table: 'users' | 'clients',
  totalCount: number,
  { afterId = 0, offset, limit }: Window,
): Promise<number[]> {
  const isNearEnd = offset > totalCount / 2
  const rows = await snapshot
    .selectFrom(table)
    .select('principal_id')
    .where('principal_id', '>', afterId)
    .orderBy('principal_id', isNearEnd ? 'desc' : 'asc')
    .limit(isNearEnd ? Math.min(limit, Math.max(0, totalCount - offset)) : limit)
    .offset(isNearEnd ? Math.max(0, totalCount - offset - limit) : offset)
    .execute()
  return rows.map((row) => row.principal_id)
}

/** Counting looks at every match, so a time limit applies. */
async function findMatches(
  snapshot: Db,
  matches: RawBuilder<unknown>,
  { afterId = 0, offset, limit }: Window,
): Promise<FoundAccounts<number>> {
  const { rows } = await sql<{ count: number; id: number | null }>`with found as materialized (${matches})
    select count, id from (select count(*) as count from found) as counted
    left join (select id from found where id > ${afterId} order by id limit ${limit} offset ${offset}) as page
    on true order by id`.execute(snapshot)
  return {
    items: rows.flatMap(({ id }) => (id === null ? [] : [id])),
    totalCount: Number(rows[0]?.count),
  }
}

const matchesOf = {
  user: (db: Db, prefix: string) => sql`${named(db, 'user', prefix)} union
    select principal_id as id from users where ${beginsWith('email', prefix)} and ${withinTime(db, 'principal_id')}`,
  client: (db: Db, prefix: string) => sql`${named(db, 'client', prefix)} union
    select principal_id as id from clients
    where ${beginsWith('display_name_folded', prefix)} and ${withinTime(db, 'principal_id')}`,
}

function named(db: Db, kind: AccountKind, prefix: string): RawBuilder<unknown> {
  return sql`select id from principals
    where kind = ${kind} and ${beginsWith('name_folded', prefix)} and ${withinTime(db, 'id')}`
}

/** As a range, which an index can find. No text continues with the last character of Unicode. */
export function beginsWith(column: string, prefix: string): RawBuilder<unknown> {
  return sql`${sql.ref(column)} >= ${prefix} and ${sql.ref(column)} < ${`${prefix}\u{10ffff}`}`
}
