import { sql } from '#kysely'
import { type Schema, tallySpanRows } from '../tables.ts'
import { companyTables, ruleColumns, statusInWords, tablesOfBoth } from '../tables-of-both.ts'

/** SQLite's schema. Add a later migration here and, under the same name, to postgres/schema.ts. */
export const schema: Schema = {
  findHistory: sql`select found.name as "table", columns.name as "column" from pragma_table_list found
    left join pragma_table_info(iif(found.name = 'schema_migrations' and found.type = 'table', found.name, '')) columns
    where found.schema = 'main' and found.name not like 'sqlite\\_%' escape '\\'`,
  migrations: {
    '0001-first-release': {
      oldestRelease: '1.0.0',
      locks: [],
      async step(trx) {
        for (const statement of initial) await sql.raw(statement).execute(trx)
      },
    },
    '0002-company-account': companyTables({ text: 'text', instant: 'integer', end: ' strict' }),
  },
}

/** Text compares by code point (BINARY). A connection that reads defines `within_time()`. */
const initial = [
  `create table orders (
     number integer primary key,
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
     created_by_owner_id integer,
     ${ruleColumns('text')},
     approvals_given integer not null check (approvals_given between 0 and approvals_needed),
     role_held integer not null default 0 check (role_held in (0, 1)),
     approved_by text,
     replaces text,
     replaced_by text,
     check (status <> 1 or approvals_given = approvals_needed and (role_needed is null or role_held = 1))
   ) strict`,

  // An index for each sort, with the id to break ties. The order of ids is the order of creation (ADR 21).
  'create unique index orders_by_id on orders (id)',
  // This one has every column that `waits:me` reads (orders/conditions.ts), so counting reads no order. That
  // halves the time for 10,000 waiting orders, and a write takes no longer.
  `create index orders_by_status on orders (status, id, created_by_id, created_by_owner_id, approvals_needed,
     approvals_given, self_approval, service_approval, role_needed, role_held, passkey_needed)`,
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
     ('orders', 'orders_by_status', '1000000 400000 1 1 1 1 1 1 1 1 1 1'),
     ('orders', 'orders_by_updated_at', '1000000 2 1')`,

  // Text search. It refers to orders by their number, which is the key of the table.
  `create virtual table orders_search using fts5(customer_folded, content = 'orders', content_rowid = 'number',
     columnsize = 0, tokenize = 'trigram case_sensitive 1')`,
  // A text that an order no longer has leaves the index at once, not when its parts are next merged.
  "insert into orders_search (orders_search, rank) values ('secure-delete', 1)",
  // The triggers index rows up to `indexed_to`, normally the greatest number there is. Inside a group of
  // writes it is lower: the rows above it are indexed together at the end of the group (writes.ts).
  'create table orders_search_deferral (indexed_to integer not null) strict',
  'insert into orders_search_deferral values (9223372036854775807)',
  `create trigger orders_search_insert after insert on orders
     when new.number <= (select indexed_to from orders_search_deferral)
   begin
     insert into orders_search (rowid, customer_folded) values (new.number, new.customer_folded);
   end`,
  `create trigger orders_search_delete after delete on orders
     when old.number <= (select indexed_to from orders_search_deferral)
   begin
     insert into orders_search (orders_search, rowid, customer_folded)
       values ('delete', old.number, old.customer_folded);
   end`,
  `create trigger orders_search_update after update of number, customer_folded on orders
     when old.number <= (select indexed_to from orders_search_deferral)
   begin
     insert into orders_search (orders_search, rowid, customer_folded)
       values ('delete', old.number, old.customer_folded);
     insert into orders_search (rowid, customer_folded) values (new.number, new.customer_folded);
   end`,

  // Whether numbers rise with ids, so that a walk by number is a walk in the order of creation. They do,
  // unless a clock was set back or past orders were seeded.
  'create table order_numbers (in_order integer not null) strict',
  'insert into order_numbers values (1)',
  `create trigger order_numbers_insert after insert on orders
     when new.id < (select max(id) from orders)
   begin
     update order_numbers set in_order = 0 where in_order = 1;
   end`,

  // The tally (ADR 10) counts orders in buckets of `created_at`, one set for each of `tallySpans`. Whole
  // units and ten-thousandths are summed separately, so that 64 bits hold them.
  `create table order_tally (
     span integer not null,
     part integer not null,
     status integer not null,
     orders integer not null,
     total_units integer not null,
     total_parts_e4 integer not null,
     primary key (span, part, status)
   ) strict, without rowid`,
  // Always empty here: only PostgreSQL's triggers append to it.
  `create table order_tally_changes (
     id integer primary key,
     quarter integer not null,
     status integer not null,
     orders integer not null,
     total_units integer not null,
     total_parts_e4 integer not null
   ) strict`,
  `create trigger order_tally_insert after insert on orders
   begin
     ${tallied('new', 1)};
   end`,
  `create trigger order_tally_update after update of status, created_at, total_e4 on orders
   begin
     ${tallied('old', -1)};
     ${tallied('new', 1)};
   end`,
  `create trigger order_tally_delete after delete on orders
   begin
     ${tallied('old', -1)};
   end`,

  // For people with a SQL prompt: totals as decimals, instants as text. The service never reads it.
  `create view orders_readable as select
     number,
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
     version,
     replaces,
     replaced_by
   from orders`,

  ...tablesOfBoth({
    id: 'integer primary key autoincrement',
    longId: 'integer primary key',
    orderId: 'text',
    text: 'text',
    bytes: 'blob',
    instant: 'integer',
    json: (column) => column,
    end: ' strict',
  }),
]

/** Adds an order to the tally, or with -1 takes it away. */
function tallied(order: 'new' | 'old', sign: 1 | -1): string {
  return `insert into order_tally (span, part, status, orders, total_units, total_parts_e4)
       select span, ${order}.created_at / span, ${order}.status, ${sign},
         ${sign} * (${order}.total_e4 / 10000), ${sign} * (${order}.total_e4 % 10000)
       from (${tallySpanRows}) where true
     on conflict (span, part, status) do update set
       orders = orders + excluded.orders,
       total_units = total_units + excluded.total_units,
       total_parts_e4 = total_parts_e4 + excluded.total_parts_e4`
}
