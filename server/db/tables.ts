import type { Generated, Kysely, RawBuilder, Transaction } from '#kysely'

/**
 * The whole schema as types; each engine's schema.ts creates it. Both engines give the same values for every
 * column: instants are integer milliseconds since 1970-01-01T00:00:00Z, totals integer ten-thousandths, flags
 * 0 or 1, hashes base64url text. The store of each slice converts them to domain values.
 */
export interface Database {
  orders: RuleColumns & {
    /** The short number, by sequence; may have gaps. SQLite's index of trigrams knows an order by it. */
    number: Generated<number>
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
    /** The owner, at that time, of the service that created the order. */
    created_by_owner_id: number | null
    approvals_given: number
    /** 1 once an approver held `role_needed`. A role taken away later does not change it. */
    role_held: number
    /** Names of those who approved, as they were then: `ann, bo for cy`. */
    approved_by: string | null
    /** The rejected or withdrawn order that this one replaces. */
    replaces: string | null
    /** The order that replaces this one. At most one does. */
    replaced_by: string | null
  }

  /**
   * Counts and sums of orders by status and by time of creation, kept by triggers on `orders` (ADR 10). Exact
   * only together with `order_tally_changes`, read in the same statement.
   */
  order_tally: TallyColumns & {
    /** How long the part of time is: one of `tallySpans`. */
    span: number
    /** The position of that part since 1970: `created_at` divided by `span`. */
    part: number
  }

  /**
   * Changes to be added to `order_tally`, to the row of each span; numbers may be negative. On PostgreSQL
   * each statement appends its changes, and `mergeTallyChanges` moves them. On SQLite the table stays empty.
   */
  order_tally_changes: TallyColumns & {
    id: Generated<number>
    /** Whole quarters of an hour since 1970 of `created_at`. */
    quarter: number
  }

  /**
   * Users and service clients share one sequence of int32 ids and one set of names (section 6 of the
   * contract).
   */
  principals: {
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
    /** When a user last signed in: null if never, or only to 1.0. */
    last_signed_in_at: number | null
  }

  users: {
    principal_id: number
    /** Lower-cased, unique. */
    email: string
    /** Argon2id PHC string. Null until the user sets a password, which is required to sign in. */
    password_hash: string | null
    /** `mailed`: by a link that the user asked for by mail. `set`: by someone else, or by their link. */
    password_origin: 'own' | 'mailed' | 'set'
    /** The account that set it; null for a command line. */
    password_set_by: number | null
    /** As it is printed next to the user name. */
    full_name: string | null
    /** IANA name for audit stamps, if the user has one. */
    time_zone: string | null
    /** When the person was erased: only `person-` and the id are left. */
    erased_at: number | null
  }

  /** The part of a service client that users do not have. */
  clients: {
    principal_id: number
    /** The name shown to people. */
    display_name: string | null
    /** Lower-cased. */
    display_name_folded: string | null
    /** After this instant the client gets no token. */
    ends_at: number | null
    /** The person who counts as creator of the orders that the client creates. */
    owner_id: number | null
  }

  client_uses: {
    principal_id: number
    /** When it last got a token, to the minute. */
    last_used_at: number
  }

  client_secrets: {
    id: Generated<number>
    principal_id: number
    /** SHA-256, base64url. */
    secret_hash: string
    created_at: number
  }

  roles: {
    name: string
    /** Rises with every change of the role's permissions. */
    version: Generated<number>
    /** How many accounts have the role. */
    accounts: Generated<number>
  }

  role_permissions: {
    role: string
    permission: string
  }

  principal_roles: {
    principal_id: number
    role: string
  }

  /** One row. Any change of accounts or roles holds its lock (auth/accounts/roles/administrators.ts). */
  administration: {
    /** Always 1. */
    id: number
    /** How many accounts there are. None is ever deleted. */
    users: number
    clients: number
  }

  sessions: {
    id: string
    principal_id: number
    /** The passkey that began it; null for the password. */
    passkey_id: string | null
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

  session_ids: {
    /** SHA-256 (base64url) of the cookie value. */
    id_hash: string
    session_id: string
    /** Position among the ids of the session, from 1. */
    number: number
    /** When a credential was last given, as far as this id knows; 0 for not recently. */
    authenticated_at: number
    /** The passkey that was given then; null for the password and a company account. */
    passkey_id: string | null
    /** Null for the current id; for a replaced one, the end of its grace period. */
    retired_at: number | null
    /** 1 if the company account was shown then. */
    by_company: Generated<number>
  }

  /** The company accounts by which users sign in (section 24 of the contract): at most one for each. */
  company_accounts: {
    principal_id: number
    issuer: string
    /** The `sub` of the account at that issuer. */
    subject: string
    linked_at: number
  }

  /** Sessions that a company account began. */
  company_sessions: {
    session_id: string
    /** The `sid` of the session at the provider, if it has said one. */
    company_sid: string | null
  }

  /** Public keys by which a user signs in and confirms (section 19 of the contract). */
  passkeys: {
    /** The credential id of the authenticator, base64url. */
    id: string
    principal_id: number
    /** The host name under which it works. */
    rp_id: string
    name: string
    /** COSE key, base64url. */
    public_key: string
    /** As the last signature had it; always 0 for an authenticator that does not count. */
    counter: number
    /** 1 if the key may exist on several devices. */
    synced: number
    created_at: number
    last_used_at: number | null
  }

  /** Used challenges, until they would have expired. */
  used_challenges: {
    nonce: string
    expires_at: number
  }

  /** A chain of refresh tokens. Only the newest is valid, and nothing is kept of the others (ADR 26). */
  refresh_families: {
    id: string
    principal_id: number
    /** The passkey that began it; null for the password. */
    passkey_id: string | null
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

  /**
   * Links by which users set a password or confirm a new email, at most one of each kind for a user. Setting
   * a password deletes all.
   */
  one_time_links: {
    principal_id: number
    /**
     * For a password: shown to the person who made it, sent to the user at the same time, or asked for by a
     * user who had forgotten it. `email` confirms a new email.
     */
    kind: 'shown' | 'sent' | 'forgotten' | 'email'
    /** SHA-256 (base64url) of the token in the link. */
    token_hash: string
    /** The account that asked while signed in, and its sign-in; null for a mailbox and for a command line. */
    asked_by_id: number | null
    sign_in_id: string | null
    expires_at: number
    /** Only in a link of kind `email`. */
    new_email: string | null
  }

  /** The mail that people want about orders. Without a row, none. */
  mail_settings: {
    principal_id: number
    waiting: 'at-once' | 'daily' | 'never'
    /** That of the daily mail, in the zone of the person. */
    hour: number
    /** 1 for mail about decisions on the person's orders. */
    decided: number
    /** 1 for mail about notes on orders that the person created, approved or noted. */
    noted: number
    /** When the next daily mail is due; null without one. */
    next_digest_at: number | null
  }

  /** At most one row: up to where events of the log have been looked at for mail. */
  mail_place: {
    /** Always 1. */
    id: number
    era: number
    sequence: number
  }

  /** Mail that waits, and what was sent in the last hour (mail/mail.ts). */
  mails: {
    id: Generated<number>
    /** The name of a `MailKind`. */
    kind: string
    /** An email, which need not belong to an account, or the id of an account. */
    recipient: string
    /** What the mail is about, for some kinds: the sequence of an event. Otherwise empty. */
    about: string
    queued_at: number
    /** When the next attempt is due. */
    due_at: number
    /** How many attempts have begun. */
    attempts: number
    /** The account that got it; null while it waits. */
    principal_id: number | null
    sent_at: number | null
  }

  /**
   * Failed and running attempts to sign in, counted by account and address, by account and network, and by
   * account alone.
   */
  login_failures: {
    /** HMAC-SHA256 (base64url) of what is counted: emails cannot be guessed from it (ADR 78). */
    key_hash: string
    failures: number
    blocked_until: number
    updated_at: number
  }

  /** Addresses from which an account has signed in. */
  known_addresses: {
    /** HMAC-SHA256 (base64url) of account and address together, as in `login_failures`. */
    pair_hash: string
    /** The same of the account. */
    account_hash: string
    signed_in_at: number
  }

  idempotency_keys: {
    principal_id: number
    /** Method and path: `POST /v1/orders`. */
    operation: string
    key: string
    /** A keyed hash (base64url) of the request: names in it cannot be guessed from it (ADR 78). */
    fingerprint: string
    /** JSON of the operation's output. */
    result: string
    expires_at: number
  }

  /** The approval policy. The row with the greatest `from_e4` up to an order's total applies to it. */
  approval_policy: RuleColumns & {
    from_e4: number
    /** The version of the whole policy, the same in every row. */
    version: number
  }

  /**
   * The accounts that took part in an approval, at most once for each order: the approver, and the absent
   * person in whose right a deputy approved. `events` records when, and under which names.
   */
  order_approvals: {
    order_id: string
    account_id: number
  }

  /** The receipt of each approved order that someone asked for: a JWS (ADR 46). */
  order_receipts: {
    order_id: string
    receipt: string
  }

  /** Documents of orders (orders/documents/). Their bytes are in `document_pieces`. */
  order_documents: {
    /** UUIDv7, lower case. */
    id: string
    order_id: string
    name: string
    media_type: string
    size: number
    /** Hexadecimal. It stays when the bytes are erased. */
    sha256: string
    added_at: number
    added_by: string
    /** When the bytes were erased. */
    erased_at: number | null
  }

  /** The bytes of documents, from piece 0, in pieces of 64 KiB. */
  document_pieces: {
    document_id: string
    piece: number
    bytes: Uint8Array
  }

  /** Documents that no order has: their bytes are arriving, or the document was removed. */
  document_leftovers: {
    id: string
    /** When the pieces can be deleted. */
    due_at: number
  }

  /** At most one absence for each person, with the deputy who decides in their place. It ends by itself. */
  absences: {
    principal_id: number
    deputy_id: number
    from_at: number
    /** Exclusive. */
    until_at: number
  }

  /** A list of orders that an account keeps under a name. */
  views: {
    owner_id: number
    /** UUID, lower case: unique for each owner. */
    id: string
    /** Unique for each owner, ignoring case. */
    name: string
    /** A filter, as its author wrote it. */
    filter: string
    /** The field of Order to sort by. */
    sort_key: string
    direction: 'asc' | 'desc'
    /** JSON array of the columns that the list shows. */
    columns: string
    /** 1 at first; each change raises it. */
    version: number
  }

  /** One row for each change, written in its transaction. `sealEvents` moves it into the log. */
  unsealed_events: EventColumns & {
    /** In the order of writing; may have gaps. */
    number: Generated<number>
  }

  /** The log. No row ever changes, except that values of `clear` may be erased. */
  events: EventColumns & {
    /** From 1, without gaps. */
    sequence: number
    /** Its leaf of the tree, hexadecimal. */
    hash: string
  }

  /** One row: how far the tree of the log goes. A sealer holds its lock. */
  log_head: {
    /** Always 1. */
    id: number
    /** From 1; each restore begins the next (audit/sealing/era.ts). */
    era: number
    /** The number of sealed events. */
    size: number
    /** Hexadecimal. */
    root: string
    /** A JSON array: the roots of the full trees that the size is made of, the largest first. */
    edge: string
    /** Since when a quorum of witnesses contradicts the log: it is stopped until the next era. */
    contradicted_at: number | null
  }

  /** Inner nodes of the tree, written once: a row for every 256 lines, for every 256 of those, and so on. */
  log_tiles: {
    /** 0 for a tile of lines. */
    level: number
    /** From 0. */
    number: number
    /** The root over the tile, hexadecimal. */
    root: string
    /** The 256 hashes of the tile, hexadecimal. */
    hashes: string
  }

  /** The last known state of each witness in each era of the log. */
  log_witnesses: {
    /** Its verifier key. */
    witness: string
    era: number
    /** That of the last checkpoint that it cosigned; 0 for none. */
    size: number
    /** When it did. */
    cosigned_at: number | null
    /** The size of its checkpoint that does not lead to this log: the log went back, or the witness lies. */
    contradicts: number | null
  }

  /** At most one row: the newest checkpoint that a quorum of witnesses cosigned. */
  log_cosigned: {
    /** Always 1. */
    id: number
    era: number
    size: number
    /** A note with all cosignatures. */
    checkpoint: string
    cosigned_at: number
  }

  /** The receivers of events of the log, and how far each has come (outbox/outbox.ts). */
  subscriptions: {
    /** UUIDv7, lower case. */
    id: string
    kind: 'webhook'
    /** The URL of a webhook. */
    address: string
    /** JSON array of kinds of subjects, such as `order`, and of single kinds, such as `order.approved`. */
    events: string
    enabled: number
    /** Why the sender disabled it; null if it did not. */
    disabled_because: 'failing' | 'gone' | null
    /** The place up to which it has everything that it asks for. */
    era: number
    sequence: number
    /** How often a person had events sent again. */
    replays: number
    /** The last sequence that belongs to the newest replay; 0 before the first. */
    replayed_to: number
    /** How many attempts at the next event have failed since `failing_since`. */
    failures: number
    failing_since: number | null
    /** When the next event is tried again; null for at once. */
    next_attempt_at: number | null
    /** Counts the secrets of a webhook, from 1. */
    secret_version: number
    /** Until when the secret before signs too; null if only the newest does. */
    previous_secret_until: number | null
    created_at: number
    /** 1 at first; each change by a person, and a disabling, raises it. */
    version: number
  }

  /** The last attempts of each subscription to deliver an event. */
  delivery_attempts: {
    id: Generated<number>
    subscription_id: string
    /** The `webhook-id`. */
    event_id: string
    /** `order.approved`; `ping` for a trial. */
    type: string
    /** Null for a trial. */
    sequence: number | null
    at: number
    duration_milliseconds: number
    /** That of the HTTP answer; null without one. */
    status: number | null
    /** Why the event counts as not delivered; null if it was delivered. */
    failure: string | null
    /** The beginning of the answer, without characters that control or reorder text. */
    answer: string | null
  }

  /** Leases: rights that one instance holds at a time (lease.ts). */
  leases: {
    name: string
    /** Rises with each new holder. */
    term: number
    /** By the database's clock; the holder may extend it. */
    ends_at: number
  }
}

/** The database for reads. */
export type Db = Kysely<Database>
/** The database for writes, which run in a transaction. */
export type Trx = Transaction<Database>

/**
 * Tables of one row that only SQLite has: up to which row orders are in the index of trigrams, and whether
 * their numbers follow their ids.
 */
export const sqliteOwnTables = ['orders_search_deferral', 'order_numbers'] as const

/** Tables that are never copied: the database derives the tally, and leases belong to running instances. */
export const uncopiedTables = ['order_tally', 'order_tally_changes', 'leases'] as const
export type UncopiedTable = (typeof uncopiedTables)[number]

/**
 * The rules of a row of the approval policy. Each order is stamped with them when it is created. A later
 * policy does not change them. See orders/rules.ts.
 */
export interface RuleColumns {
  approvals_needed: number
  /** 1 if the creator may approve. */
  self_approval: number
  /** 1 if services may approve. */
  service_approval: number
  /** The role that one of the approvers must hold. */
  role_needed: string | null
  /** 1 if each approval must be signed with a passkey. */
  passkey_needed: number
}

interface TallyColumns {
  /** `EOrderStatus`. */
  status: number
  orders: number
  /** Sum of the totals' whole currency units. It may pass 2^53, so it is only read as text. */
  total_units: number
  /** Sum of the totals' fractions, in ten-thousandths. Only read as text. */
  total_parts_e4: number
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
  by_id: number | null
  /** The absent person in whose place it was done. */
  for_id: number | null
  /** JSON of an object, as are the next two: see `LogLine` in proof/line.ts. */
  data: string
  /** They stay when a value of `clear` is erased. */
  hashes: string
  clear: string
}

/** The columns of an event with their types: statements take both from here. */
export const eventColumns = {
  id: 'text',
  kind: 'text',
  subject_kind: 'text',
  subject_id: 'text',
  version: 'integer',
  at: 'bigint',
  at_time_zone: 'text',
  by_id: 'integer',
  for_id: 'integer',
  data: 'text',
  hashes: 'text',
  clear: 'text',
} as const satisfies Record<keyof EventColumns, 'text' | 'integer' | 'bigint'>

/**
 * The parts of time in which `order_tally` counts, in milliseconds. All instants are in part 0 of `always`.
 * Since 1980 every day of every time zone has begun with a quarter of an hour in UTC.
 */
export const tallySpans = { always: Number.MAX_SAFE_INTEGER, day: 86_400_000, quarter: 900_000 }

/** The same as rows of one column, `span`, in SQL. */
export const tallySpanRows = Object.values(tallySpans)
  .map((span) => `select ${span} as span`)
  .join(' union all ')

/** The contents of an engine's schema.ts. */
export interface Schema {
  /**
   * Names every table and view, and every column of `schema_migrations` if that is a table: reading a view of
   * a foreign database may never end. One statement, because another process may migrate meanwhile. Needs
   * only the right to read.
   */
  findHistory: RawBuilder<{ table: string; column: string | null }>
  /** By name, in the order to apply them. Never rename one, nor insert one between two others. */
  migrations: Record<string, Migration>
}

/**
 * One step to the schema of a release. Releases from `oldestRelease` on serve meanwhile and afterwards, and
 * start on the result. So a step may add tables, and columns that are null or have a constant default. No
 * other table may have a column of the same name, because statements that join tables do not always say
 * whose column they mean.
 */
export type Migration = { oldestRelease: string } & (
  | {
      /** The tables that nobody can use during the step. It ends at once, whatever their size. */
      locks: readonly string[]
      step(trx: Trx): Promise<void>
    }
  /** An index of a table that has rows. On PostgreSQL it locks out nobody, and is no transaction. */
  | { index: string; on: string }
)
