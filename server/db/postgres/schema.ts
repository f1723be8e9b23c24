import { sql, type Transaction } from '#kysely'
import type { Database, Schema } from '../tables.ts'
import { statusInWords, tablesOfBoth } from '../tables-of-both.ts'

/** PostgreSQL's schema. Add a later migration here and, under the same name, to sqlite/schema.ts. */
export const schema: Schema = {
  findHistory: sql`select 1 from pg_tables where schemaname = current_schema() and tablename = 'schema_migrations'`,
  migrations: {
    '0001-schema': async (trx: Transaction<Database>) => {
      for (const statement of initial(await currentSchema(trx))) await sql.raw(statement).execute(trx)
      await indexTrigrams(trx)
    },
  },
}

/**
 * Text compares by code point, whatever the collation of the database. The triggers' functions run with the
 * rights of the migrating role and name their tables in full, so they work for any role that may write
 * orders, whatever its search_path.
 */
const initial = (here: string) => [
  `create table orders (
     id uuid primary key,
     customer text collate "C" not null,
     customer_folded text collate "C" not null,
     total_e4 bigint not null check (total_e4 between 1 and 999999999999999),
     status integer not null check (status >= 0),
     created_at bigint not null check (created_at >= 0),
     created_at_time_zone text collate "C",
     created_by text collate "C",
     updated_at bigint,
     updated_at_time_zone text collate "C",
     modified_by text collate "C",
     version integer not null check (version >= 1),
     created_by_id integer,
     approvals_needed integer not null check (approvals_needed between 1 and 5),
     self_approval integer not null check (self_approval in (0, 1)),
     service_approval integer not null check (service_approval in (0, 1)),
     approvals_given integer not null check (approvals_given between 0 and approvals_needed),
     check (status <> 1 or approvals_given = approvals_needed)
   )`,

  // An index for each sort, with the id to break ties. The order of ids is the order of creation (ADR 21).
  'create index orders_by_status on orders (status, id)',
  'create index orders_by_customer on orders (customer_folded, id)',
  'create index orders_by_total on orders (total_e4, id)',
  'create index orders_by_updated_at on orders (updated_at nulls first, id)',

  // The tally (ADR 10). `day` counts whole UTC days since 1970 of `created_at`; -1 stands for all days
  // together. Its few rows change all the time: room on the page keeps that off the index.
  `create table order_tally (
     day bigint not null,
     status integer not null,
     orders bigint not null,
     total_units numeric not null,
     total_parts_e4 numeric not null,
     primary key (day, status)
   ) with (fillfactor = 50)`,
  // Triggers append the changes of a statement, summed by day and status, so that no write waits for
  // another's row; `mergeTallyChanges` moves them into the tally. Rows come and go, so vacuum goes by the
  // number of dead ones, not by their share of the few that live.
  `create table order_tally_changes (
     id bigint generated always as identity primary key,
     day bigint not null,
     status integer not null,
     orders bigint not null,
     total_units numeric not null,
     total_parts_e4 numeric not null
   ) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000)`,
  // A statement for one order, as nearly all are, is not summed: that would cost as much as the rest of it.
  `create function ${here}.order_tally_insert() returns trigger language plpgsql
     security definer set search_path = pg_catalog, pg_temp as $function$
   begin
     perform from created offset 1;
     if not found then
       insert into ${here}.order_tally_changes (day, status, orders, total_units, total_parts_e4)
         select created_at / 86400000,
           status, 1, total_e4 / 10000, total_e4 % 10000
         from created;
     else
       insert into ${here}.order_tally_changes (day, status, orders, total_units, total_parts_e4)
         select created_at / 86400000,
           status, count(*), sum(total_e4 / 10000), sum(total_e4 % 10000)
         from created group by 1, 2;
     end if;
     return null;
   end $function$`,
  `create function ${here}.order_tally_update() returns trigger language plpgsql
     security definer set search_path = pg_catalog, pg_temp as $function$
   begin
     insert into ${here}.order_tally_changes (day, status, orders, total_units, total_parts_e4)
       select day, status, sum(orders), sum(total_units), sum(total_parts_e4)
       from (
         select created_at / 86400000 as day,
           status, -1 as orders, -(total_e4 / 10000) as total_units, -(total_e4 % 10000) as total_parts_e4
         from before_update
         union all
         select created_at / 86400000,
           status, 1, total_e4 / 10000, total_e4 % 10000
         from after_update
       ) as changed
       group by day, status
       having sum(orders) <> 0 or sum(total_units) <> 0 or sum(total_parts_e4) <> 0;
     return null;
   end $function$`,
  `create function ${here}.order_tally_delete() returns trigger language plpgsql
     security definer set search_path = pg_catalog, pg_temp as $function$
   begin
     insert into ${here}.order_tally_changes (day, status, orders, total_units, total_parts_e4)
       select created_at / 86400000,
         status, -count(*), -sum(total_e4 / 10000), -sum(total_e4 % 10000)
       from deleted group by 1, 2;
     return null;
   end $function$`,
  `create function ${here}.order_tally_truncate() returns trigger language plpgsql
     security definer set search_path = pg_catalog, pg_temp as $function$
   begin
     truncate ${here}.order_tally_changes, ${here}.order_tally;
     return null;
   end $function$`,
  `create trigger order_tally_insert after insert on orders referencing new table as created
     for each statement execute function order_tally_insert()`,
  `create trigger order_tally_update after update on orders
     referencing old table as before_update new table as after_update
     for each statement execute function order_tally_update()`,
  `create trigger order_tally_delete after delete on orders referencing old table as deleted
     for each statement execute function order_tally_delete()`,
  `create trigger order_tally_truncate after truncate on orders
     for each statement execute function order_tally_truncate()`,

  // For people with a SQL prompt: totals as decimals, instants as timestamps. The service never reads it.
  `create view orders_readable as select
     id,
     customer,
     total_e4::numeric / 10000 as total,
     ${statusInWords} as status,
     to_timestamp(created_at / 1000.0) as created_at,
     created_at_time_zone,
     created_by,
     to_timestamp(updated_at / 1000.0) as updated_at,
     updated_at_time_zone,
     modified_by,
     version
   from orders`,

  ...tablesOfBoth({
    id: 'integer generated by default as identity primary key',
    longId: 'bigint generated by default as identity primary key',
    orderId: 'uuid',
    text: 'text collate "C"',
    instant: 'bigint',
    end: '',
  }),
  // Rows come and go, as in order_tally_changes.
  `alter table unsealed_events
     set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000)`,
]

async function currentSchema(trx: Transaction<Database>): Promise<string> {
  const { rows } = await sql<{ name: string }>`select quote_ident(current_schema()) as name`.execute(trx)
  const [here] = rows
  if (here === undefined) throw new Error('there is no current schema')
  return here.name
}

/** SQLSTATEs for an extension that the server does not have (by version), or that the role may not create. */
const noExtension = ['0A000', '58P01', '42501']

/**
 * Text search. Without the extension, or the right to create it, the rest of the migration stands, and texts
 * are searched row by row (docs/operations.md).
 */
async function indexTrigrams(trx: Transaction<Database>): Promise<void> {
  await sql`savepoint trigrams`.execute(trx)
  try {
    await sql`create extension if not exists pg_trgm`.execute(trx)
  } catch (error) {
    await sql`rollback to savepoint trigrams`.execute(trx)
    if (noExtension.includes(String((error as { code?: unknown }).code))) return
    throw error
  }
  await sql`release savepoint trigrams`.execute(trx)
  const { rows } = await sql<{ name: string }>`select quote_ident(nspname) as name from pg_extension
    join pg_namespace on pg_namespace.oid = extnamespace where extname = 'pg_trgm'`.execute(trx)
  await sql`create index orders_by_trigram on orders using gin (customer_folded ${sql.raw(`${rows[0]?.name}.gin_trgm_ops`)})
    with (gin_pending_list_limit = 256)`.execute(trx)
}
