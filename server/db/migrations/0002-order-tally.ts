import { sql, type Transaction } from 'kysely'
import type { Engine } from '../migrate.ts'
import type { Database } from '../tables.ts'

/**
 * The tally of orders (ADR 0010), kept by triggers and filled from the orders that there are. `day` is the whole UTC
 * days since 1970 of `created_at`; -1 stands for all days together, and what was created before 1970 counts there
 * only. Sums are kept as whole units and ten-thousandths apart, so that SQLite's 64 bits hold them.
 *
 * On PostgreSQL nobody can create or change orders while it runs: what was under way before is waited for.
 */
export async function up(trx: Transaction<Database>, engine: Engine): Promise<void> {
  const statements = engine === 'postgres' ? postgresStatements(await currentSchema(trx)) : sqliteStatements()
  for (const statement of statements) await sql.raw(statement).execute(trx)
}

const columns = 'day, status, orders, total_units, total_parts_e4'
const pendingIndex = 'create index orders_pending_by_created_at on orders (created_at, id) where status = 0'

/** One walk over the orders, however many there are. */
const fill = `insert into order_tally (${columns})
  with by_day as materialized (
    select case when created_at >= 0 then created_at / 86400000 else -1 end as day, status,
      count(*) as orders, sum(total_e4 / 10000) as total_units, sum(total_e4 % 10000) as total_parts_e4
    from orders group by 1, 2
  )
  select -1, status, sum(orders), sum(total_units), sum(total_parts_e4) from by_day group by status
  union all
  select ${columns} from by_day where day >= 0`

function sqliteStatements(): string[] {
  const numbers = 'orders integer not null, total_units integer not null, total_parts_e4 integer not null'
  return [
    `create table order_tally (day integer not null, status integer not null, ${numbers},
       primary key (day, status)) strict, without rowid`,
    `create table order_tally_changes (id integer primary key, day integer not null, status integer not null,
       ${numbers}) strict`,
    fill,
    sqliteTrigger('order_tally_insert', 'insert', sqliteChange('new', '')),
    sqliteTrigger(
      'order_tally_update',
      'update of status, created_at, total_e4',
      `${sqliteChange('old', '-')} union all ${sqliteChange('new', '')}`,
    ),
    sqliteTrigger('order_tally_delete', 'delete', sqliteChange('old', '-')),
    pendingIndex,
  ]
}

function sqliteTrigger(name: string, event: string, changes: string): string {
  return `create trigger ${name} after ${event} on orders begin
    insert into order_tally (${columns}) ${changes}
    on conflict (day, status) do update set orders = orders + excluded.orders,
      total_units = total_units + excluded.total_units,
      total_parts_e4 = total_parts_e4 + excluded.total_parts_e4;
  end`
}

/** What the row adds to, or with a minus takes from, the tally of all days and of its own. */
function sqliteChange(row: 'old' | 'new', sign: '' | '-'): string {
  const numbers = `${row}.status, ${sign}1, ${sign}(${row}.total_e4 / 10000), ${sign}(${row}.total_e4 % 10000)`
  return `select -1, ${numbers} union all
    select ${row}.created_at / 86400000, ${numbers} where ${row}.created_at >= 0`
}

/**
 * Triggers append what a statement changed, summed up by day and status, so that no write waits for another's row; `foldOrderTally` moves them into the tally. The functions run with the rights of who migrated and name their
 * tables in full: they work for whoever may write orders, whatever that role's search_path and rights are.
 */
function postgresStatements(schema: string): string[] {
  const numbers = 'orders bigint not null, total_units numeric not null, total_parts_e4 numeric not null'
  return [
    'lock table orders in share row exclusive mode',
    // Few rows, updated all the time: room on the page keeps those updates off the index.
    `create table order_tally (day bigint not null, status integer not null, ${numbers},
       primary key (day, status)) with (fillfactor = 50)`,
    // Rows come and go: what is dead is to be cleared away by its number, not by its share of the few that live.
    `create table order_tally_changes (id bigint generated always as identity primary key,
       day bigint not null, status integer not null, ${numbers})
       with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000)`,
    fill,
    postgresFunction(schema, 'insert', appendChanges(schema, 'created', postgresRows('created', 1))),
    postgresFunction(
      schema,
      'update',
      appendChanges(
        schema,
        'after_update',
        `${postgresRows('before_update', -1)} union all ${postgresRows('after_update', 1)}`,
      ),
    ),
    postgresFunction(schema, 'delete', appendChanges(schema, 'deleted', postgresRows('deleted', -1))),
    postgresFunction(schema, 'truncate', `truncate ${schema}.order_tally_changes, ${schema}.order_tally;`),
    postgresTrigger('insert', 'referencing new table as created'),
    postgresTrigger('update', 'referencing old table as before_update new table as after_update'),
    postgresTrigger('delete', 'referencing old table as deleted'),
    postgresTrigger('truncate', ''),
    pendingIndex,
  ]
}

type Event = 'insert' | 'update' | 'delete' | 'truncate'

function postgresFunction(schema: string, event: Event, body: string): string {
  return `create function ${schema}.order_tally_${event}() returns trigger language plpgsql
    security definer set search_path = pg_catalog, pg_temp
    as $function$ begin ${body} return null; end $function$`
}

function postgresTrigger(event: Event, referencing: string): string {
  return `create trigger order_tally_${event} after ${event} on orders ${referencing}
    for each statement execute function order_tally_${event}()`
}

function postgresRows(transitionTable: string, sign: 1 | -1): string {
  return `select case when created_at >= 0 then created_at / 86400000 else -1 end as day, status,
    ${sign} as orders, ${sign} * (total_e4 / 10000) as total_units, ${sign} * (total_e4 % 10000) as total_parts_e4
    from ${transitionTable}`
}

/** A statement for one order, as nearly all are, is not summed up: that would cost as much as the rest of it. */
function appendChanges(schema: string, transitionTable: string, rows: string): string {
  const insert = `insert into ${schema}.order_tally_changes (${columns})`
  return `
    perform from ${transitionTable} offset 1;
    if not found then
      ${insert} ${rows};
    else
      ${insert} select day, status, sum(orders), sum(total_units), sum(total_parts_e4)
        from (${rows}) as changed group by day, status
        having sum(orders) <> 0 or sum(total_units) <> 0 or sum(total_parts_e4) <> 0;
    end if;`
}

async function currentSchema(trx: Transaction<Database>): Promise<string> {
  const { rows } = await sql<{ name: string }>`select quote_ident(current_schema()) as name`.execute(trx)
  const [schema] = rows
  if (schema === undefined) throw new Error('there is no current schema')
  return schema.name
}
