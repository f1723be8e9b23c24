import { sql, type Transaction } from '#kysely'
import type { Database, Schema } from '../tables.ts'
import { statusInWords, tablesOfBoth } from '../tables-of-both.ts'

/** SQLite's schema. Add a later migration here and, under the same name, to postgres/schema.ts. */
export const schema: Schema = {
  findHistory: sql`select 1 from sqlite_schema where type = 'table' and name = 'schema_migrations'`,
  migrations: {
    '0001-schema': async (trx: Transaction<Database>) => {
      for (const statement of initial) await sql.raw(statement).execute(trx)
    },
  },
}

/** Text compares by code point (BINARY). A connection that reads defines `within_time()`. */
const initial = [
  `create table orders (
     seq integer primary key,
     id text not null,
     customer text not null,
     customer_folded text not null,
     total_e4 integer not null check (total_e4 between 1 and 999999999999999),
     status integer not null check (status >= 0),
     created_at integer not null check (created_at >= 0),
     created_at_time_zone text,
     created_by text,
     updated_at integer,
     updated_at_time_zone text,
     modified_by text,
     version integer not null check (version >= 1),
     created_by_id integer,
     approvals_needed integer not null check (approvals_needed between 1 and 5),
     self_approval integer not null check (self_approval in (0, 1)),
     service_approval integer not null check (service_approval in (0, 1)),
     approvals_given integer not null check (approvals_given between 0 and approvals_needed),
     check (status <> 1 or approvals_given = approvals_needed)
   ) strict`,

  // An index for each sort, with the id to break ties. The order of ids is the order of creation (ADR 21).
  'create unique index orders_by_id on orders (id)',
  'create index orders_by_status on orders (status, id)',
  'create index orders_by_customer on orders (customer_folded, id)',
  'create index orders_by_total on orders (total_e4, id)',
  'create index orders_by_updated_at on orders (updated_at, id)',

  // Fixed statistics for the planner: rows of the table, and how many of them share the first column of the
  // index, the first two, and so on. Without them it thinks a status as rare as any other value. Plans are
  // then the same for ten orders and ten million. https://sqlite.org/fileformat2.html#stat1tab Only `analyze`
  // makes the table of statistics.
  'analyze orders',
  `insert into sqlite_stat1 (tbl, idx, stat) values
     ('orders', 'orders_by_id', '1000000 1'),
     ('orders', 'orders_by_customer', '1000000 20 1'),
     ('orders', 'orders_by_total', '1000000 20 1'),
     ('orders', 'orders_by_status', '1000000 400000 1'),
     ('orders', 'orders_by_updated_at', '1000000 2 1')`,

  // Text search. It knows orders by number, and rows keep their numbers only if a column holds them.
  `create virtual table orders_search using fts5(customer_folded, content = 'orders', content_rowid = 'seq',
     columnsize = 0, tokenize = 'trigram case_sensitive 1')`,
  // The triggers index rows up to `indexed_to`, normally the greatest number there is. Inside a group of
  // writes it is lower: the rows above it are indexed together at the end of the group (writes.ts).
  'create table orders_search_deferral (indexed_to integer not null) strict',
  'insert into orders_search_deferral values (9223372036854775807)',
  `create trigger orders_search_insert after insert on orders
     when new.seq <= (select indexed_to from orders_search_deferral)
   begin
     insert into orders_search (rowid, customer_folded) values (new.seq, new.customer_folded);
   end`,
  `create trigger orders_search_delete after delete on orders
     when old.seq <= (select indexed_to from orders_search_deferral)
   begin
     insert into orders_search (orders_search, rowid, customer_folded)
       values ('delete', old.seq, old.customer_folded);
   end`,
  `create trigger orders_search_update after update of seq, customer_folded on orders
     when old.seq <= (select indexed_to from orders_search_deferral)
   begin
     insert into orders_search (orders_search, rowid, customer_folded)
       values ('delete', old.seq, old.customer_folded);
     insert into orders_search (rowid, customer_folded) values (new.seq, new.customer_folded);
   end`,

  // Whether numbers follow ids, as they do unless a clock was set back or past orders were seeded. If so, a
  // walk by number is one in the order of creation.
  'create table order_numbers (in_order integer not null) strict',
  'insert into order_numbers values (1)',
  `create trigger order_numbers_insert after insert on orders
     when new.id < (select max(id) from orders)
   begin
     update order_numbers set in_order = 0 where in_order = 1;
   end`,

  // The tally (ADR 10). `day` counts whole UTC days since 1970 of `created_at`; -1 stands for all days
  // together. Whole units and ten-thousandths are summed separately, so that 64 bits hold them.
  `create table order_tally (
     day integer not null,
     status integer not null,
     orders integer not null,
     total_units integer not null,
     total_parts_e4 integer not null,
     primary key (day, status)
   ) strict, without rowid`,
  // Always empty here: only PostgreSQL's triggers append to it.
  `create table order_tally_changes (
     id integer primary key,
     day integer not null,
     status integer not null,
     orders integer not null,
     total_units integer not null,
     total_parts_e4 integer not null
   ) strict`,
  `create trigger order_tally_insert after insert on orders
   begin
     insert into order_tally (day, status, orders, total_units, total_parts_e4)
       select -1, new.status, 1, new.total_e4 / 10000, new.total_e4 % 10000
       union all
       select new.created_at / 86400000, new.status, 1, new.total_e4 / 10000, new.total_e4 % 10000
     on conflict (day, status) do update set
       orders = orders + excluded.orders,
       total_units = total_units + excluded.total_units,
       total_parts_e4 = total_parts_e4 + excluded.total_parts_e4;
   end`,
  `create trigger order_tally_update after update of status, created_at, total_e4 on orders
   begin
     insert into order_tally (day, status, orders, total_units, total_parts_e4)
       select -1, old.status, -1, -(old.total_e4 / 10000), -(old.total_e4 % 10000)
       union all
       select old.created_at / 86400000, old.status, -1, -(old.total_e4 / 10000), -(old.total_e4 % 10000)
       union all
       select -1, new.status, 1, new.total_e4 / 10000, new.total_e4 % 10000
       union all
       select new.created_at / 86400000, new.status, 1, new.total_e4 / 10000, new.total_e4 % 10000
     on conflict (day, status) do update set
       orders = orders + excluded.orders,
       total_units = total_units + excluded.total_units,
       total_parts_e4 = total_parts_e4 + excluded.total_parts_e4;
   end`,
  `create trigger order_tally_delete after delete on orders
   begin
     insert into order_tally (day, status, orders, total_units, total_parts_e4)
       select -1, old.status, -1, -(old.total_e4 / 10000), -(old.total_e4 % 10000)
       union all
       select old.created_at / 86400000, old.status, -1, -(old.total_e4 / 10000), -(old.total_e4 % 10000)
     on conflict (day, status) do update set
       orders = orders + excluded.orders,
       total_units = total_units + excluded.total_units,
       total_parts_e4 = total_parts_e4 + excluded.total_parts_e4;
   end`,

  // For people with a SQL prompt: totals as decimals, instants as text. The service never reads it.
  `create view orders_readable as select
     id,
     customer,
     printf('%d.%04d', total_e4 / 10000, total_e4 % 10000) as total,
     ${statusInWords} as status,
     strftime('%Y-%m-%dT%H:%M:%fZ', created_at / 1000.0, 'unixepoch') as created_at,
     created_at_time_zone,
     created_by,
     strftime('%Y-%m-%dT%H:%M:%fZ', updated_at / 1000.0, 'unixepoch') as updated_at,
     updated_at_time_zone,
     modified_by,
     version
   from orders`,

  ...tablesOfBoth({
    id: 'integer primary key autoincrement',
    longId: 'integer primary key',
    orderId: 'text',
    text: 'text',
    instant: 'integer',
    end: ' strict',
  }),
]
