import type { Generated, RawBuilder, Transaction } from '#kysely'

/**
 * The whole schema as types; each engine's schema.ts creates it. Both engines give the same values for every column:
 * instants are integer milliseconds since 1970-01-01T00:00:00Z, totals integer ten-thousandths, flags 0 or 1,
 * hashes base64url text. The conversion to domain values happens once, in the store of each slice.
 */
export interface Database {
  orders: OrdersTable
  order_tally: OrderTallyTable
  order_tally_changes: OrderTallyChangesTable
  principals: PrincipalsTable
  users: UsersTable
  clients: ClientsTable
  client_uses: ClientUsesTable
  client_secrets: ClientSecretsTable
  roles: RolesTable
  role_permissions: RolePermissionsTable
  principal_roles: PrincipalRolesTable
  administration: AdministrationTable
  sessions: SessionsTable
  session_ids: SessionIdsTable
  refresh_families: RefreshFamiliesTable
  one_time_links: OneTimeLinksTable
  login_failures: LoginFailuresTable
  known_addresses: KnownAddressesTable
  idempotency_keys: IdempotencyKeysTable
  approval_policy: ApprovalPolicyTable
  order_approvals: OrderApprovalsTable
  views: ViewsTable
  unsealed_events: UnsealedEventsTable
  events: EventsTable
  log_head: LogHeadTable
  leases: LeasesTable
}

/** The number of an order, by which SQLite's index of trigrams knows it; only SQLite's table has it, and gives it. */
export const sqliteRowNumber = 'seq'

/**
 * Tables of one row that only SQLite has: up to which row the orders are in the index of trigrams, and whether their
 * numbers are in the order of their ids.
 */
export const sqliteOwnTables = ['orders_search_deferral', 'order_numbers'] as const

/** Tables that are never copied: the database makes the tally from others, and leases are those of its instances. */
export const uncopiedTables = ['order_tally', 'order_tally_changes', 'leases'] as const
export type UncopiedTable = (typeof uncopiedTables)[number]

export interface OrdersTable {
  /** UUIDv7, lower case. */
  id: string
  customer: string
  /** `foldText(customer)`: what text search and sorting see. */
  customer_folded: string
  /** Ten-thousandths of the currency unit, 1 to 999,999,999,999,999. */
  total_e4: number
  /** `EOrderStatus`. */
  status: number
  created_at: number
  created_at_time_zone: string | null
  created_by: string | null
  updated_at: number | null
  updated_at_time_zone: string | null
  modified_by: string | null
  /** Row version of the optimistic concurrency check; 1 at creation. */
  version: number
  /** Null for an order that no account created, such as a seeded one. */
  created_by_id: number | null
  /** What the approval policy asked for when the order was created; a later policy changes nothing here. */
  approvals_needed: number
  /** 1 where who created the order may approve it. */
  self_approval: number
  /** 1 where services may approve it. */
  service_approval: number
  approvals_given: number
}

/** The approval policy: the row with the greatest `from_e4` up to an order's total applies to it. */
export interface ApprovalPolicyTable {
  from_e4: number
  approvals: number
  self_approval: number
  services: number
  /** Of the whole policy, the same in every row. */
  version: number
}

/** Who has approved an order: nobody twice. When and under which name stands in `events`. */
export interface OrderApprovalsTable {
  order_id: string
  approver_id: number
}

/** A list of orders that somebody keeps under a name. */
export interface ViewsTable {
  /** UUID, lower case. */
  id: string
  owner_id: number
  name: string
  /** `foldText(name)`: no two views of one owner have the same. */
  name_folded: string
  /** As it was written; a filter of the language. */
  filter: string
  /** A field of Order that lists are sorted by. */
  sort_key: string
  direction: 'asc' | 'desc'
  /** JSON array of what the list tells of each order. */
  columns: string
  /** 1 where everybody who may read orders sees it. */
  shared: number
  /** 1 at first; each change raises it. */
  version: number
}

/** What happened: what an event is before and after it is sealed (docs/auditing.md). */
export interface EventColumns {
  /** UUIDv7, lower case. */
  id: string
  kind: string
  subject_kind: string
  subject_id: string
  /** Of an order or of the policy, after the change. */
  version: number | null
  at: number
  at_time_zone: string | null
  /** User name or clientId, or `machine:` and the account of the machine that ran a command. */
  by_name: string
  by_id: number | null
  /** Canonical JSON (RFC 8785) of an object. */
  data: string
  /** SHA-256 of salt and text, hexadecimal. It stays when the text is erased. */
  text_hash: string | null
  /** Hexadecimal. */
  text_salt: string | null
  text: string | null
}

/** One row for each change, written in its transaction; `sealEvents` moves them into the log. */
export interface UnsealedEventsTable extends EventColumns {
  /** In the order of writing; may have gaps. */
  number: Generated<number>
}

/** The log. A row is never changed, but for a text that is erased. */
export interface EventsTable extends EventColumns {
  /** From 1, without gaps. */
  sequence: number
  /** Hexadecimal; binds the event to all before it. */
  hash: string
}

/** One row: how many events are sealed, and the hash of the last. Whoever seals holds its lock. */
export interface LogHeadTable {
  /** Always 1. */
  id: number
  size: number
  hash: string
}

/** Who may do what one instance at a time does (lease.ts). */
export interface LeasesTable {
  name: string
  /** One more with each holder. */
  term: number
  /** By the database's clock, unless the holder extends it. */
  ends_at: number
}

/**
 * How many orders there are and what they come to, by day of creation and status, kept by triggers on `orders`
 * (ADR 10). Exact only together with `order_tally_changes`, read in the same statement.
 */
export interface OrderTallyTable {
  /** Whole UTC days since 1970 of `created_at`, or `allDays`. */
  day: number
  /** `EOrderStatus`. */
  status: number
  orders: number
  /** Sum of the totals' whole currency units. May pass 2^53: only ever read as text. */
  total_units: number
  /** Sum of what the totals have beside their whole units, in ten-thousandths. Only ever read as text. */
  total_parts_e4: number
}

/** The `day` that stands for all days together in `order_tally`. */
export const allDays = -1

/**
 * What is to be added to `order_tally`, to the row of the day and to that of all days; numbers may be negative. On
 * PostgreSQL each statement appends its own and `mergeTallyChanges` takes them away; on SQLite there are never any.
 */
export interface OrderTallyChangesTable {
  id: Generated<number>
  day: number
  status: number
  orders: number
  total_units: number
  total_parts_e4: number
}

/** Users and service clients share one int32 id sequence and one name space (section 6 of the contract). */
export interface PrincipalsTable {
  id: Generated<number>
  kind: 'user' | 'client'
  /** User name, or clientId of a service. */
  name: string
  /** Lower-cased name, unique over users and clients. */
  name_folded: string
  enabled: number
  /** Of the last change that ended access tokens: those that carry another instant serve no more. */
  credentials_changed_at: number
  /** One more whenever every session and token family ends: those that were made in an earlier epoch serve no more. */
  credentials_epoch: number
  /** 1 for accounts of the development seed, until they get a new password or secret. */
  demo: number
  created_at: number
  /** One more with every event of the account. */
  version: Generated<number>
}

export interface UsersTable {
  principal_id: number
  /** Lower-cased, unique. */
  email: string
  /** Argon2id PHC string; null until the user has set a password, and cannot sign in. */
  password_hash: string | null
  /** IANA name for audit stamps, if the user has one. */
  time_zone: string | null
}

/** A service, beside what it has in common with users. */
export interface ClientsTable {
  principal_id: number
  /** What people call it. */
  display_name: string | null
  /** From then on it gets no token. */
  ends_at: number | null
}

export interface ClientUsesTable {
  principal_id: number
  /** When it last got a token, to a minute. */
  last_used_at: number
}

export interface ClientSecretsTable {
  id: Generated<number>
  principal_id: number
  /** SHA-256, base64url. */
  secret_hash: string
  created_at: number
}

export interface RolesTable {
  name: string
  /** One more with every change of what it holds. */
  version: Generated<number>
}

/** One row: whoever changes accounts or roles holds its lock (auth/accounts/roles/administrators.ts). */
export interface AdministrationTable {
  /** Always 1. */
  id: number
}

export interface RolePermissionsTable {
  role: string
  permission: string
}

export interface PrincipalRolesTable {
  principal_id: number
  role: string
}

export interface SessionsTable {
  id: string
  principal_id: number
  /** Of the account when the session was made. */
  credentials_epoch: number
  /** JSON array of role names, as they were when the session was made or last refreshed. */
  roles: string
  /** SHA-256 (base64url) of the antiforgery binding; unique, so that no two sessions share one. */
  antiforgery_binding: string
  created_at: number
  last_seen_at: number
  absolute_expires_at: number
  user_agent: string | null
  /** How many ids it has had. */
  issued_ids: number
}

export interface SessionIdsTable {
  /** SHA-256 (base64url) of the cookie value. */
  id_hash: string
  session_id: string
  /** Among the ids that the session has had, from 1. */
  number: number
  /** When the password was last given, as far as this id knows. */
  authenticated_at: number
  /** Null for a current id; the end of its grace period for one that a refresh has replaced. */
  retired_at: number | null
}

/** A chain of refresh tokens, of which only the newest serves; nothing is kept of the others (ADR 26). */
export interface RefreshFamiliesTable {
  id: string
  principal_id: number
  /** Of the account when the family was made. */
  credentials_epoch: number
  /** How many tokens it has had. */
  generation: number
  /** SHA-256 (base64url) of the token that serves. */
  token_hash: string
  /** End of that token if it is not used; never after `expires_at`. */
  token_expires_at: number
  created_at: number
  /** When the newest token was issued. */
  last_used_at: number
  expires_at: number
  user_agent: string | null
}

/** Links by which users set a password: one that was used is not there any more, and a user has one at most. */
export interface OneTimeLinksTable {
  principal_id: number
  /** SHA-256 (base64url) of what stands in the link. */
  token_hash: string
  expires_at: number
}

/** Failed (and running) login tries by account and address, by account and network, and by account alone. */
export interface LoginFailuresTable {
  /** SHA-256 (base64url) of what is counted. */
  key_hash: string
  failures: number
  blocked_until: number
  updated_at: number
}

/** Addresses that an account signed in from. */
export interface KnownAddressesTable {
  /** SHA-256 (base64url) of account and address together, as `login_failures` has it. */
  pair_hash: string
  /** SHA-256 (base64url) of the account. */
  account_hash: string
  /** Last. */
  signed_in_at: number
}

export interface IdempotencyKeysTable {
  principal_id: number
  /** Method and path, as `POST /v1/orders`. */
  operation: string
  key: string
  fingerprint: string
  /** JSON of what the operation answered. */
  result: string
  expires_at: number
}

/** What an engine's schema.ts brings. */
export interface Schema {
  /** Finds a row if the database has a table `schema_migrations`; needs no right but to read. */
  findHistory: RawBuilder<unknown>
  /**
   * By name, in the order in which they are applied. Forward only: names are never changed, nor put between two others.
   */
  migrations: Record<string, (trx: Transaction<Database>) => Promise<void>>
}
