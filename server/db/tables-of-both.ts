import { sql } from '#kysely'
import type { Migration } from './tables.ts'

/** How an engine writes columns and tables. */
interface Dialect {
  /** A number that the database assigns and never reuses. */
  id: string
  /** The same for tables that may outgrow an int32. SQLite may reuse the last number once its row is gone. */
  longId: string
  /** The id of an order, a view or a subscription. */
  orderId: string
  text: string
  bytes: string
  /** Milliseconds. */
  instant: string
  /** Reads a member of a JSON object in a column of text. */
  json: (column: string) => string
  /** The end of a `create table` statement, after the columns. */
  end: string
}

/** SHA-256 of nothing: the root of a log without lines. */
const rootOfNothing = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'

/** The rules of a row of the approval policy, with which each order is stamped; see orders/rules.ts. */
export const ruleColumns = (
  text: string,
) => `approvals_needed integer not null check (approvals_needed between 1 and 5),
     self_approval integer not null check (self_approval in (0, 1)),
     service_approval integer not null check (service_approval in (0, 1)),
     role_needed ${text},
     passkey_needed integer not null default 0 check (passkey_needed in (0, 1))`

/** The states of an order in the readable view. `orders/order.ts` compiles only if it has the same. */
export const readableStatuses = { Pending: 0, Approved: 1, Rejected: 2, Withdrawn: 3 } as const

/** The name of an order's status, in SQL. */
export const statusInWords = `case status ${Object.entries(readableStatuses)
  .map(([name, status]) => `when ${status} then '${name}'`)
  .join(' ')} end`

/** The columns of an event, sealed or not. */
const eventColumns = (text: string, instant: string) => `id ${text} not null,
     kind ${text} not null,
     subject_kind ${text} not null,
     subject_id ${text} not null,
     version integer,
     at ${instant} not null,
     at_time_zone ${text},
     by_id integer,
     for_id integer,
     data ${text} not null,
     hashes ${text} not null,
     clear ${text} not null`

/** Company accounts (section 24 of the contract), and when people last signed in. */
export const companyTables = ({
  text,
  instant,
  end,
}: Pick<Dialect, 'text' | 'instant' | 'end'>): Migration => ({
  oldestRelease: '1.0.0',
  // Sessions can be read meanwhile.
  locks: ['principals', 'sessions', 'session_ids'],
  async step(trx) {
    for (const statement of [
      `create table company_accounts (
         principal_id integer primary key references principals (id),
         issuer ${text} not null,
         subject ${text} not null,
         linked_at ${instant} not null,
         unique (issuer, subject)
       )${end}`,
      `create table company_sessions (
         session_id ${text} primary key references sessions (id) on delete cascade,
         company_sid ${text}
       )${end}`,
      'create index company_sessions_by_sid on company_sessions (company_sid)',
      'alter table session_ids add column by_company integer not null default 0 check (by_company in (0, 1))',
      `alter table principals add column last_signed_in_at ${instant}`,
    ]) {
      await sql.raw(statement).execute(trx)
    }
  },
})

/** The tables that are the same on both engines: all but those of orders. */
export const tablesOfBoth = ({ id, longId, orderId, text, bytes, instant, json, end }: Dialect): string[] => [
  `create table principals (
     id ${id},
     kind ${text} not null check (kind in ('user', 'client')),
     name ${text} not null,
     name_folded ${text} not null unique,
     enabled integer not null check (enabled in (0, 1)),
     credentials_changed_at ${instant} not null,
     credentials_epoch integer not null,
     demo integer not null check (demo in (0, 1)),
     created_at ${instant} not null,
     version integer not null default 1 check (version >= 1)
   )${end}`,
  'create index principals_by_kind on principals (kind, name_folded, id)',
  `create table users (
     principal_id integer primary key references principals (id),
     email ${text} not null unique,
     password_hash ${text},
     password_origin ${text} not null check (password_origin in ('own', 'mailed', 'set')),
     password_set_by integer references principals (id),
     full_name ${text},
     time_zone ${text},
     erased_at ${instant}
   )${end}`,
  `create table clients (
     principal_id integer primary key references principals (id),
     display_name ${text},
     display_name_folded ${text},
     ends_at ${instant},
     owner_id integer references principals (id)
   )${end}`,
  'create index clients_by_display_name on clients (display_name_folded, principal_id)',
  // In a separate table because it is written whenever a client gets a token.
  `create table client_uses (
     principal_id integer primary key references principals (id),
     last_used_at ${instant} not null
   )${end}`,
  `create table client_secrets (
     id ${id},
     principal_id integer not null references principals (id),
     secret_hash ${text} not null,
     created_at ${instant} not null
   )${end}`,
  'create index client_secrets_by_principal on client_secrets (principal_id)',
  `create table roles (
     name ${text} primary key,
     version integer not null default 1 check (version >= 1),
     accounts integer not null default 0 check (accounts >= 0)
   )${end}`,
  `create table role_permissions (
     role ${text} not null references roles (name),
     permission ${text} not null,
     primary key (role, permission)
   )${end}`,
  `create table principal_roles (
     principal_id integer not null references principals (id),
     role ${text} not null references roles (name),
     primary key (principal_id, role)
   )${end}`,
  'create index principal_roles_by_role on principal_roles (role, principal_id)',
  // One row that every change of accounts and roles locks, so that they follow each other on all instances.
  `create table administration (
     id integer primary key check (id = 1),
     users integer not null,
     clients integer not null
   )${end}`,
  'insert into administration (id, users, clients) values (1, 0, 0)',
  `insert into roles (name) values ('Admin'), ('Operator'), ('Viewer')`,
  `insert into role_permissions (role, permission) values
     ('Admin', 'Orders.Create'), ('Admin', 'Orders.Read'), ('Admin', 'Orders.Approve'), ('Admin', 'Orders.Note'),
     ('Admin', 'Log.Read'), ('Admin', 'Policy.Manage'), ('Admin', 'Accounts.Manage'),
     ('Admin', 'Webhooks.Manage'),
     ('Operator', 'Orders.Create'), ('Operator', 'Orders.Read'), ('Operator', 'Orders.Note'),
     ('Viewer', 'Orders.Read')`,

  `create table passkeys (
     id ${text} primary key,
     principal_id integer not null references principals (id),
     rp_id ${text} not null,
     name ${text} not null,
     public_key ${text} not null,
     counter ${instant} not null,
     synced integer not null check (synced in (0, 1)),
     created_at ${instant} not null,
     last_used_at ${instant}
   )${end}`,
  'create index passkeys_by_principal on passkeys (principal_id, created_at, id)',
  `create table used_challenges (
     nonce ${text} primary key,
     expires_at ${instant} not null
   )${end}`,
  'create index used_challenges_by_end on used_challenges (expires_at)',

  `create table sessions (
     id ${text} primary key,
     principal_id integer not null references principals (id),
     passkey_id ${text},
     credentials_epoch integer not null,
     roles ${text} not null,
     antiforgery_binding ${text} not null unique,
     created_at ${instant} not null,
     last_seen_at ${instant} not null,
     absolute_expires_at ${instant} not null,
     user_agent ${text},
     issued_ids integer not null
   )${end}`,
  'create index sessions_by_principal on sessions (principal_id)',
  'create index sessions_by_last_seen on sessions (last_seen_at)',
  `create table session_ids (
     id_hash ${text} primary key,
     session_id ${text} not null references sessions (id) on delete cascade,
     number integer not null,
     authenticated_at ${instant} not null,
     passkey_id ${text},
     retired_at ${instant}
   )${end}`,
  'create index session_ids_by_session on session_ids (session_id)',

  `create table refresh_families (
     id ${text} primary key,
     principal_id integer not null references principals (id),
     passkey_id ${text},
     credentials_epoch integer not null,
     generation integer not null,
     token_hash ${text} not null,
     token_expires_at ${instant} not null,
     created_at ${instant} not null,
     last_used_at ${instant} not null,
     expires_at ${instant} not null,
     user_agent ${text}
   )${end}`,
  'create index refresh_families_by_principal on refresh_families (principal_id)',
  'create index refresh_families_by_end on refresh_families (token_expires_at)',

  `create table one_time_links (
     principal_id integer not null references principals (id),
     kind ${text} not null check (kind in ('shown', 'sent', 'forgotten', 'email')),
     token_hash ${text} not null unique,
     asked_by_id integer references principals (id),
     sign_in_id ${text},
     expires_at ${instant} not null,
     new_email ${text} check ((new_email is not null) = (kind = 'email')),
     primary key (principal_id, kind)
   )${end}`,
  'create index one_time_links_by_end on one_time_links (expires_at)',
  'create index one_time_links_by_asker on one_time_links (asked_by_id)',
  `create table mail_settings (
     principal_id integer primary key references principals (id),
     waiting ${text} not null check (waiting in ('at-once', 'daily', 'never')),
     hour integer not null check (hour between 0 and 23),
     decided integer not null check (decided in (0, 1)),
     noted integer not null check (noted in (0, 1)),
     next_digest_at ${instant}
   )${end}`,
  'create index mail_settings_by_digest on mail_settings (next_digest_at)',
  'create index mail_settings_by_waiting on mail_settings (waiting, principal_id)',
  `create table mail_place (
     id integer primary key check (id = 1),
     era integer not null,
     sequence ${instant} not null
   )${end}`,
  `create table mails (
     id ${longId},
     kind ${text} not null,
     recipient ${text} not null,
     about ${text} not null,
     queued_at ${instant} not null,
     due_at ${instant} not null,
     attempts integer not null,
     principal_id integer references principals (id),
     sent_at ${instant}
   )${end}`,
  'create unique index mails_waiting on mails (kind, recipient, about) where sent_at is null',
  'create index mails_by_due on mails (kind, due_at, id) where sent_at is null',
  'create index mails_by_account on mails (principal_id, sent_at)',
  'create index mails_by_sending on mails (sent_at)',

  `create table login_failures (
     key_hash ${text} primary key,
     failures integer not null,
     blocked_until ${instant} not null,
     updated_at ${instant} not null
   )${end}`,
  'create index login_failures_by_update on login_failures (updated_at)',
  `create table known_addresses (
     pair_hash ${text} primary key,
     account_hash ${text} not null,
     signed_in_at ${instant} not null
   )${end}`,
  'create index known_addresses_by_account on known_addresses (account_hash, signed_in_at)',
  'create index known_addresses_by_sign_in on known_addresses (signed_in_at)',

  `create table idempotency_keys (
     principal_id integer not null references principals (id),
     operation ${text} not null,
     key ${text} not null,
     fingerprint ${text} not null,
     result ${text} not null,
     expires_at ${instant} not null,
     primary key (principal_id, operation, key)
   )${end}`,
  'create index idempotency_keys_by_end on idempotency_keys (expires_at)',

  `create table approval_policy (
     from_e4 ${instant} primary key check (from_e4 between 0 and 999999999999999),
     ${ruleColumns(text)},
     version integer not null
   )${end}`,
  // The user's rule: one approval, from anyone.
  `insert into approval_policy (from_e4, approvals_needed, self_approval, service_approval, version)
     values (0, 1, 1, 1, 1)`,
  `create table order_approvals (
     order_id ${orderId} not null,
     account_id integer not null references principals (id),
     primary key (order_id, account_id)
   )${end}`,
  `create table order_receipts (
     order_id ${orderId} primary key,
     receipt ${text} not null
   )${end}`,
  `create table order_documents (
     id ${orderId} primary key,
     order_id ${orderId} not null,
     name ${text} not null,
     media_type ${text} not null,
     size integer not null,
     sha256 ${text} not null,
     added_at ${instant} not null,
     added_by ${text} not null,
     erased_at ${instant}
   )${end}`,
  'create index order_documents_by_order on order_documents (order_id, id)',
  'create index order_documents_by_sender on order_documents (added_by, added_at)',
  `create table document_pieces (
     document_id ${orderId} not null,
     piece integer not null,
     bytes ${bytes} not null,
     primary key (document_id, piece)
   )${end}`,
  `create table document_leftovers (
     id ${orderId} primary key,
     due_at ${instant} not null
   )${end}`,
  'create index document_leftovers_by_time on document_leftovers (due_at)',
  `create table absences (
     principal_id integer primary key references principals (id),
     deputy_id integer not null references principals (id) check (deputy_id <> principal_id),
     from_at ${instant} not null,
     until_at ${instant} not null check (until_at > from_at)
   )${end}`,
  'create index absences_by_deputy on absences (deputy_id, principal_id)',

  `create table views (
     owner_id integer not null references principals (id),
     id ${orderId} not null,
     name ${text} not null,
     filter ${text} not null,
     sort_key ${text} not null,
     direction ${text} not null check (direction in ('asc', 'desc')),
     columns ${text} not null,
     version integer not null,
     primary key (owner_id, id)
   )${end}`,

  // Events wait here for their place in the log. No writer touches a row that another writer touches.
  `create table unsealed_events (
     number ${longId},
     ${eventColumns(text, instant)}
   )${end}`,
  `create table events (
     sequence ${instant} primary key,
     ${eventColumns(text, instant)},
     hash ${text} not null
   )${end}`,
  'create index events_by_subject on events (subject_id, subject_kind, sequence)',
  // Finds approvals and counts notes without reading the other events of an order. It adds 2 µs to the
  // sealing of an event.
  'create index events_by_subject_and_kind on events (subject_id, subject_kind, kind, sequence)',
  // Each index has everything that a filter of the log can ask for, so matches are counted without their
  // rows. The three together add 2 to 3 µs of processor time to the sealing of an event.
  'create index events_by_kind on events (kind, sequence, at)',
  `create index events_by_who on events ((${json('clear')} -> 'by' ->> 'value'), sequence, kind, at)`,
  'create index events_by_time on events (at, sequence)',
  // An erasure finds all events of a person by these two.
  'create index events_by_actor on events (by_id, sequence)',
  'create index events_by_absent on events (for_id, sequence) where for_id is not null',
  `create table log_head (
     id integer primary key check (id = 1),
     era integer not null,
     size ${instant} not null,
     root ${text} not null,
     edge ${text} not null,
     contradicted_at ${instant}
   )${end}`,
  `insert into log_head (id, era, size, root, edge) values (1, 1, 0, '${rootOfNothing}', '[]')`,
  `create table log_tiles (
     level integer not null,
     number ${instant} not null,
     root ${text} not null,
     hashes ${text} not null,
     primary key (level, number)
   )${end}`,

  `create table log_witnesses (
     witness ${text} not null,
     era integer not null,
     size ${instant} not null,
     cosigned_at ${instant},
     contradicts ${instant},
     primary key (witness, era)
   )${end}`,
  `create table log_cosigned (
     id integer primary key check (id = 1),
     era integer not null,
     size ${instant} not null,
     checkpoint ${text} not null,
     cosigned_at ${instant} not null
   )${end}`,

  `create table subscriptions (
     id ${orderId} primary key,
     kind ${text} not null check (kind in ('webhook')),
     address ${text} not null,
     events ${text} not null,
     enabled integer not null check (enabled in (0, 1)),
     disabled_because ${text} check (disabled_because in ('failing', 'gone')),
     era integer not null,
     sequence ${instant} not null,
     replays integer not null,
     replayed_to ${instant} not null,
     failures integer not null,
     failing_since ${instant},
     next_attempt_at ${instant},
     secret_version integer not null,
     previous_secret_until ${instant},
     created_at ${instant} not null,
     version integer not null
   )${end}`,
  `create table delivery_attempts (
     id ${longId},
     subscription_id ${orderId} not null references subscriptions (id) on delete cascade,
     event_id ${text} not null,
     type ${text} not null,
     sequence ${instant},
     at ${instant} not null,
     duration_milliseconds ${instant} not null,
     status integer,
     failure ${text},
     answer ${text}
   )${end}`,
  'create index delivery_attempts_by_subscription on delivery_attempts (subscription_id, id)',

  `create table leases (
     name ${text} primary key,
     term ${instant} not null,
     ends_at ${instant} not null
   )${end}`,
]
