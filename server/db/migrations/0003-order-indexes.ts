import { sql, type Transaction } from 'kysely'
import type { Engine } from '../migrate.ts'
import type { Database } from '../tables.ts'

/**
 * What lists are found by (ADR 0012): an index for every sort, each with the id that breaks ties, one of the trigrams of
 * customers for text search, and on SQLite from where on orders are numbered as they were created.
 *
 * SQLite's search names orders by their row, and rows keep their numbers for certain only where a column holds them:
 * the table is made anew with `seq`. PostgreSQL's search needs the extension pg_trgm; where it cannot be had the
 * service works without that index.
 */
export async function up(trx: Transaction<Database>, engine: Engine): Promise<void> {
  const run = async (statement: string) => void (await sql.raw(statement).execute(trx))
  if (engine === 'sqlite') {
    await numberRows(trx, run)
    // Before there are indexes it has nothing to walk.
    for (const statement of statisticsStatements) await run(statement)
  }
  for (const statement of engine === 'sqlite' ? sqliteIndexes : postgresIndexes) await run(statement)
  if (engine === 'postgres') await indexTrigrams(trx, run)
}

const sortIndexes = [
  'create index orders_by_customer on orders (customer_folded, id)',
  'create index orders_by_total on orders (total_e4, id)',
  'create index orders_by_status on orders (status, id)',
  'create index orders_by_status_and_created_at on orders (status, created_at, id)',
  'create index orders_by_updated_at on orders (updated_at, id)',
  'create index orders_by_created_by on orders (lower(created_by), id)',
]

/** The greatest row number that there can be. */
const everyRow = '9223372036854775807'
const indexedTo = '(select indexed_to from orders_search_deferral)'

const nothingInOrder = 'update order_sequence set in_order_from = (select max(seq) + 1 from orders)'

const sqliteIndexes = [
  'create unique index orders_by_id on orders (id)',
  'create index orders_by_created_at on orders (created_at, id)',
  ...sortIndexes,
  `create virtual table orders_search using fts5(customer_folded, content = 'orders', content_rowid = 'seq',
     columnsize = 0, tokenize = 'trigram case_sensitive 1')`,
  `insert into orders_search (orders_search) values ('rebuild')`,
  // A group of writes indexes its new rows together at its end (sqlite-search.ts): those above `indexed_to`.
  'create table orders_search_deferral (indexed_to integer not null) strict',
  `insert into orders_search_deferral values (${everyRow})`,
  `create trigger orders_search_insert after insert on orders when new.seq <= ${indexedTo} begin
     insert into orders_search (rowid, customer_folded) values (new.seq, new.customer_folded);
   end`,
  `create trigger orders_search_delete after delete on orders when old.seq <= ${indexedTo} begin
     insert into orders_search (orders_search, rowid, customer_folded)
       values ('delete', old.seq, old.customer_folded);
   end`,
  `create trigger orders_search_update after update of seq, customer_folded on orders
     when old.seq <= ${indexedTo} begin
     insert into orders_search (orders_search, rowid, customer_folded)
       values ('delete', old.seq, old.customer_folded);
     insert into orders_search (rowid, customer_folded) values (new.seq, new.customer_folded);
   end`,
  // From this row on each was created no earlier than all before it: newest first is then from the greatest number down.
  'create table order_sequence (in_order_from integer not null) strict',
  `insert into order_sequence
     select coalesce(max(seq), 0) + 1 from (
       select seq, created_at, max(created_at) over (order by seq rows between unbounded preceding and 1 preceding)
         as before from orders
     ) where created_at < before`,
  `create trigger order_sequence_insert after insert on orders
     when new.created_at < (select max(created_at) from orders) or new.seq < (select max(seq) from orders) begin
     ${nothingInOrder};
   end`,
  `create trigger order_sequence_update after update of seq, created_at on orders begin
     ${nothingInOrder};
   end`,
]

/**
 * What SQLite's planner shall think, whatever there is: rows of the table, and how many of them have equal first
 * columns of the index, first two, and so on. Without, it takes a status for as rare as any other value. Plans are then
 * the same for ten orders and for ten million. https://sqlite.org/fileformat2.html#stat1tab
 */
const sqliteStatistics = [
  ['orders_by_id', '1000000 1'],
  ['orders_by_created_at', '1000000 2 1'],
  ['orders_by_customer', '1000000 20 1'],
  ['orders_by_total', '1000000 20 1'],
  ['orders_by_status', '1000000 400000 1'],
  ['orders_by_status_and_created_at', '1000000 400000 2 1'],
  ['orders_by_updated_at', '1000000 2 1'],
  ['orders_by_created_by', '1000000 50000 1'],
]

const statisticsStatements = [
  // The table of statistics is made by this alone.
  'analyze orders',
  `delete from sqlite_stat1 where tbl = 'orders'`,
  ...sqliteStatistics.map(
    ([index, numbers]) =>
      `insert into sqlite_stat1 (tbl, idx, stat) values ('orders', '${index}', '${numbers}')`,
  ),
]

/** PostgreSQL reads an index backwards with its nulls first: where they come last both ways, it takes two. */
const postgresIndexes = [
  'drop index orders_pending_by_created_at',
  ...sortIndexes,
  'create index orders_by_updated_at_desc on orders (updated_at desc nulls last, id desc)',
  'create index orders_by_created_by_desc on orders (lower(created_by) desc nulls last, id desc)',
]

const orderColumns = `id, customer, customer_folded, total_e4, status, created_at, created_at_time_zone, created_by,
  updated_at, updated_at_time_zone, modified_by, version`

/** The same rows in the same order; views and triggers are taken over as they stand. */
async function numberRows(
  trx: Transaction<Database>,
  run: (statement: string) => Promise<void>,
): Promise<void> {
  const { rows } = await sql<{ sql: string }>`select sql from sqlite_schema
    where name = 'orders_readable' or (type = 'trigger' and tbl_name = 'orders')`.execute(trx)
  await run('drop view orders_readable')
  await run('alter table orders rename to orders_before')
  await run(`create table orders (
    seq integer primary key,
    id text not null,
    customer text not null,
    customer_folded text not null,
    total_e4 integer not null check (total_e4 between 1 and 999999999999999),
    status integer not null check (status >= 0),
    created_at integer not null,
    created_at_time_zone text,
    created_by text,
    updated_at integer,
    updated_at_time_zone text,
    modified_by text,
    version integer not null check (version >= 1)) strict`)
  await run(
    `insert into orders (seq, ${orderColumns}) select rowid, ${orderColumns} from orders_before order by rowid`,
  )
  await run('drop table orders_before')
  for (const { sql: statement } of rows) await run(statement)
}

/** SQLSTATEs of an extension that is not installed on the server, by its version, or that the role may not make. */
const noExtension = ['0A000', '58P01', '42501']

/** Without the extension, or the right to it, everything else of the migration stands; texts are then read row by row. */
async function indexTrigrams(
  trx: Transaction<Database>,
  run: (statement: string) => Promise<void>,
): Promise<void> {
  await run('savepoint trigrams')
  try {
    await run('create extension if not exists pg_trgm')
  } catch (error) {
    await run('rollback to savepoint trigrams')
    if (noExtension.includes(String((error as { code?: unknown }).code))) return
    throw error
  }
  await run('release savepoint trigrams')
  const { rows } = await sql<{ name: string }>`select quote_ident(nspname) as name from pg_extension
    join pg_namespace on pg_namespace.oid = extnamespace where extname = 'pg_trgm'`.execute(trx)
  await run(`create index orders_by_trigram on orders using gin (customer_folded ${rows[0]?.name}.gin_trgm_ops)
    with (gin_pending_list_limit = 256)`)
}
