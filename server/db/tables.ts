import type { Generated, RawBuilder, Transaction } from '#kysely'

/**
 * The whole schema as types; each engine's schema.ts creates it. Both engines give the same values for every
 * column: instants are integer milliseconds since 1970-01-01T00:00:00Z, totals integer ten-thousandths, flags
 * 0 or 1, hashes base64url text. The store of each slice converts them to domain values.
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

/**
 * The number by which SQLite's index of trigrams knows an order. Only SQLite has the column, and fills it.
 */
export const sqliteRowNumber = 'seq'

/**
 * Tables of one row that only SQLite has: up to which row orders are in the index of trigrams, and whether
 * their numbers follow their ids.
 */
export const sqliteOwnTables = ['orders_search_deferral', 'order_numbers'] as const

/** Tables that are never copied: the database derives the tally, and leases belong to running instances. */
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
  /** Version for optimistic concurrency, 1 at creation. */
  version: number
  /** Null for an order that no account created, for example a seeded one. */
  created_by_id: number | null
  /** Approvals that the policy required when the order was created. A later policy changes nothing here. */
  approvals_needed: number
  /** 1 if the creator may approve it. */
  self_approval: number
  /** 1 if services may approve it. */
  service_approval: number
  approvals_given: number
}

/** The approval policy. The row with the greatest `from_e4` up to an order's total applies to it. */
export interface ApprovalPolicyTable {
  from_e4: number
  approvals: number
  self_approval: number
  services: number
  /** The version of the whole policy, the same in every row. */
  version: number
}

/** Approvals: at most one of an approver for an order. `events` has when, and under which name. */
export interface OrderApprovalsTable {
  order_id: string
  approver_id: number
}

/** A list of orders that a user keeps under a name. */
export interface ViewsTable {
  /** UUID, lower case. */
  id: string
  owner_id: number
  name: string
  /** `foldText(name)`: unique for each owner. */
  name_folded: string
  /** A filter of the language, as it was written. */
  filter: string
  /** The field of Order to sort by. */
  sort_key: string
  direction: 'asc' | 'desc'
  /** JSON array of the columns that the list shows. */
  columns: string
  /** 1 if everyone who may read orders sees it. */
  shared: number
  /** 1 at first; each change raises it. */
  version: number
}

/** An event, before and after it is sealed (docs/auditing.md). */
export interface EventColumns {
  /** UUIDv7, lower case. */
  id: string
  kind: string
  subject_kind: string
  subject_id: string
  /** The version of the order or policy after the change. */
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

/** One row for each change, written in the transaction of that change. `sealEvents` moves it into the log. */
export interface UnsealedEventsTable extends EventColumns {
  /** In the order of writing; may have gaps. */
  number: Generated<number>
}

/** The log. No row ever changes, except that a text may be erased. */
export interface EventsTable extends EventColumns {
  /** From 1, without gaps. */
  sequence: number
  /** Hexadecimal. Chains the event to every earlier one. */
  hash: string
}

/** One row: the number of sealed events, and the hash of the last. A sealer holds its lock. */
export interface LogHeadTable {
  /** Always 1. */
  id: number
  size: number
  hash: string
}

/** Rights of one instance at a time (lease.ts). */
export interface LeasesTable {
  name: string
  /** Rises with each new holder. */
  term: number
  /** By the database's clock; the holder may extend it. */
  ends_at: number
}

/**
 * Counts and sums of orders by status and by day of creation, kept by triggers on `orders` (ADR 10). Exact
 * only together with `order_tally_changes`, read in the same statement.
 */
export interface OrderTallyTable {
  /** Whole UTC days since 1970 of `created_at`, or `allDays`. */
  day: number
  /** `EOrderStatus`. */
  status: number
  orders: number
  /** Sum of the totals' whole currency units. It may pass 2^53, so it is only read as text. */
  total_units: number
  /** Sum of the totals' fractions, in ten-thousandths. Only read as text. */
  total_parts_e4: number
}

/** The `day` that stands for all days together in `order_tally`. */
export const allDays = -1

/**
 * Changes to be added to `order_tally`, to the row of the day and to that of all days; numbers may be
 * negative. On PostgreSQL each statement appends its changes, and `mergeTallyChanges` takes them away. On
 * SQLite the table stays empty.
 */
export interface OrderTallyChangesTable {
  id: Generated<number>
  day: number
  status: number
  orders: number
  total_units: number
  total_parts_e4: number
}

/**
 * Users and service clients share one sequence of int32 ids and one set of names (section 6 of the contract).
 */
export interface PrincipalsTable {
  id: Generated<number>
  kind: 'user' | 'client'
  /** User name, or clientId of a service. */
  name: string
  /** Lower-cased name, unique over users and clients. */
  name_folded: string
  enabled: number
  /** When access tokens were last ended. A token that carries another instant is refused. */
  credentials_changed_at: number
  /** Rises when all sessions and token families end: those of an earlier epoch are refused. */
  credentials_epoch: number
  /** 1 for accounts of the development seed, until they get a new password or secret. */
  demo: number
  created_at: number
  /** Rises with every event of the account. */
  version: Generated<number>
}

export interface UsersTable {
  principal_id: number
  /** Lower-cased, unique. */
  email: string
  /** Argon2id PHC string. Null until the user sets a password; without one, there is no signing in. */
  password_hash: string | null
  /** IANA name for audit stamps, if the user has one. */
  time_zone: string | null
}

/** The part of a service client that users do not have. */
export interface ClientsTable {
  principal_id: number
  /** The name shown to people. */
  display_name: string | null
  /** After this instant the client gets no token. */
  ends_at: number | null
}

export interface ClientUsesTable {
  principal_id: number
  /** When it last got a token, to the minute. */
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
  /** Rises with every change of the role's permissions. */
  version: Generated<number>
}

/** One row. Any change of accounts or roles holds its lock (auth/accounts/roles/administrators.ts). */
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
  /** The account's epoch when the session was made. */
  credentials_epoch: number
  /** JSON array of role names, as they were when the session was made or last refreshed. */
  roles: string
  /** SHA-256 (base64url) of the antiforgery binding. Unique, so no two sessions share one. */
  antiforgery_binding: string
  created_at: number
  last_seen_at: number
  absolute_expires_at: number
  user_agent: string | null
  /** How many ids the session has had. */
  issued_ids: number
}

export interface SessionIdsTable {
  /** SHA-256 (base64url) of the cookie value. */
  id_hash: string
  session_id: string
  /** Position among the ids of the session, from 1. */
  number: number
  /** When the password was last given, as far as this id knows. */
  authenticated_at: number
  /** Null for the current id; for a replaced one, the end of its grace period. */
  retired_at: number | null
}

/** A chain of refresh tokens. Only the newest is valid, and nothing is kept of the others (ADR 26). */
export interface RefreshFamiliesTable {
  id: string
  principal_id: number
  /** The account's epoch when the family was made. */
  credentials_epoch: number
  /** How many tokens the family has had. */
  generation: number
  /** SHA-256 (base64url) of the valid token. */
  token_hash: string
  /** When that token expires if it is not used; never after `expires_at`. */
  token_expires_at: number
  created_at: number
  /** When the newest token was issued. */
  last_used_at: number
  expires_at: number
  user_agent: string | null
}

/** Links by which users set a password, at most one for a user. Using a link deletes it. */
export interface OneTimeLinksTable {
  principal_id: number
  /** SHA-256 (base64url) of the token in the link. */
  token_hash: string
  expires_at: number
}

/** Failed and running attempts to sign in, by account with address, with network, and alone. */
export interface LoginFailuresTable {
  /** SHA-256 (base64url) of what is counted. */
  key_hash: string
  failures: number
  blocked_until: number
  updated_at: number
}

/** Addresses from which an account has signed in. */
export interface KnownAddressesTable {
  /** SHA-256 (base64url) of account and address together, as in `login_failures`. */
  pair_hash: string
  /** SHA-256 (base64url) of the account. */
  account_hash: string
  /** The last time. */
  signed_in_at: number
}

export interface IdempotencyKeysTable {
  principal_id: number
  /** Method and path: `POST /v1/orders`. */
  operation: string
  key: string
  fingerprint: string
  /** JSON of the operation's output. */
  result: string
  expires_at: number
}

/** The contents of an engine's schema.ts. */
export interface Schema {
  /** Finds a row if the table `schema_migrations` exists. Needs only the right to read. */
  findHistory: RawBuilder<unknown>
  /**
   * By name, in the order to apply them. Forward only: never rename one, nor insert one between two others.
   */
  migrations: Record<string, (trx: Transaction<Database>) => Promise<void>>
}
