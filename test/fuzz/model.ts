import assert from 'node:assert/strict'
import type { Permission } from '../../server/caller/permissions.ts'
import type { OrderRow } from '../support/orders.ts'

/** How long an instance may trust its cache of accounts and roles. */
export const memoryMilliseconds = 300_000
const sessionIdleMilliseconds = 1_800_000
/** How long an expired session is kept, for the tokens of a page that signs in again. */
const sessionKeptMilliseconds = 86_400_000
export const sessionAbsoluteMilliseconds = 3_600_000
const touchMilliseconds = 60_000
const idsLimit = 8
const toleranceMilliseconds = 5_000

export interface Account {
  kind: 'user' | 'client'
  id: number
  name: string
  email: string
  password: string
  /** Secrets of a client, newest last. */
  secrets: string[]
  enabled: boolean
  roles: string[]
  /** When each change ended every credential. The number of changes dates a credential. */
  changes: number[]
  failedLogins: { count: number; last: number; blockedUntil: number }
}

export interface Session {
  account: Account
  roles: string[]
  binding: string
  lastSeen: number
  absoluteEnd: number
  /** When each id stops working; null while it is current. */
  ids: Map<string, number | null>
}

export interface RefreshToken {
  value: string
  family: { account: Account; end: number; isRevoked: boolean }
  expires: number
  isUsed: boolean
}

export interface AccessToken {
  value: string
  account: Account
  changesBefore: number
  roles: string[]
  expires: number
  /** Instances that have refused it, and so never accept it again. */
  refusedAt: Set<number>
}

/** A cookie jar, and the antiforgery token that its page holds. */
export interface Browser {
  session: string | undefined
  /** Earlier session ids. */
  past: string[]
  csrfCookie: string | undefined
  token: { text: string; binding: string } | undefined
}

type RoleTable = Record<string, Permission[]>

/** An event of an order, as its history has to show it. */
export interface ModelEvent {
  kind: string
  version: number
  at: number
  zone: string
  by: string
  byId: number
  text: string | null
}

interface ModelPolicyRow {
  from: number
  approvals: number
  selfApproval: boolean
  services: boolean
  role: string | null
  passkey: boolean
}

const firstPolicy: ModelPolicyRow[] = [
  { from: 0, approvals: 1, selfApproval: true, services: true, role: null, passkey: false },
]

/** The service as a model: what it has to store and to answer, as simply as possible. */
export class Model {
  readonly accounts: Account[] = []
  /** Ids of all clients: those of earlier models created some of the orders. */
  readonly clientIds = new Set<number>()
  /** Secrets that the client no longer has. */
  readonly droppedSecrets: string[] = []
  /** The sessions that are stored: nobody has ended them, though they may have expired. */
  readonly sessions = new Set<Session>()
  readonly refreshTokens: RefreshToken[] = []
  readonly accessTokens: AccessToken[] = []
  readonly browsers: Browser[] = [0, 1, 2].map(() => ({
    session: undefined,
    past: [],
    csrfCookie: undefined,
    token: undefined,
  }))
  /** Keyed by id, newest last. */
  readonly orders = new Map<string, OrderRow>()
  /** Keyed by order, oldest first. */
  readonly events = new Map<string, ModelEvent[]>()
  /** Keyed by order. An answered receipt never changes. */
  readonly receipts = new Map<string, string>()
  policy = firstPolicy
  readonly keys = new Map<string, { fingerprint: string; expires: number; order: string }>()
  /** The permissions of the roles, and until when they held. */
  readonly roleTables: { until: number; table: RoleTable }[] = []

  eventsOf(order: string): ModelEvent[] {
    return this.events.get(order) ?? []
  }

  get roleTable(): RoleTable {
    return this.roleTables.at(-1)?.table ?? {}
  }

  changeRoleTable(table: RoleTable, now: number): void {
    const current = this.roleTables.at(-1)
    if (current !== undefined) current.until = now
    this.roleTables.push({ until: Number.POSITIVE_INFINITY, table })
  }

  /** Every set of permissions that an instance may still use. */
  possiblePermissions(roles: readonly string[], now: number, kind: Account['kind'] = 'user'): string[][] {
    return this.roleTables
      .filter(({ until }) => until > now - memoryMilliseconds)
      .map(({ table }) => [...new Set(roles.flatMap((role) => table[role] ?? []))].sort())
      .map((held) => held.filter((permission) => kind === 'user' || !permission.endsWith('.Manage')))
  }

  sessionOf(id: string | undefined): Session | undefined {
    return [...this.sessions].find(({ ids }) => id !== undefined && ids.has(id))
  }

  /** The session that the id currently belongs to. Using it moves its end, at most once a minute. */
  liveSession(id: string | undefined, now: number): Session | undefined {
    const session = this.sessionOf(id)
    if (session === undefined || isOver(session, now)) return undefined
    const retired = session.ids.get(id ?? '')
    if (typeof retired === 'number' && retired <= now) return undefined
    if (now - session.lastSeen >= touchMilliseconds) session.lastSeen = now
    return session
  }

  /** Takes the role from the account and its sessions, and ends its access tokens. */
  removeRole(account: Account, role: string, now: number): void {
    account.roles = account.roles.filter((name) => name !== role)
    account.changes.push(now)
    for (const session of this.sessions) {
      if (session.account === account) session.roles = session.roles.filter((name) => name !== role)
    }
  }

  /** Ends every session, family and token of the account. */
  endCredentials(account: Account, now: number): void {
    account.changes.push(now)
    for (const session of this.sessions) if (session.account === account) this.sessions.delete(session)
    for (const { family } of this.refreshTokens) if (family.account === account) family.isRevoked = true
  }

  /** Whether an instance accepts the token: yes, no, or only until it reads the account again. */
  standing(token: AccessToken, instance: number, now: number): 'valid' | 'invalid' | 'either' {
    if (now >= token.expires + toleranceMilliseconds) return 'invalid'
    const changedAt = token.account.changes[token.changesBefore]
    if (changedAt === undefined) return 'valid'
    const isForgotten = now - changedAt >= memoryMilliseconds
    return isForgotten || token.refusedAt.has(instance) ? 'invalid' : 'either'
  }

  /**
   * Counts an attempt with a right or wrong password, and returns the outcome (section 8 of the contract).
   */
  tryPassword(account: Account, isRight: boolean, now: number): 'blocked' | 'refused' | 'accepted' {
    const { failedLogins } = account
    const isOld = failedLogins.last <= now - 86_400_000
    if (!isOld && failedLogins.blockedUntil > now) return 'blocked'
    const count = isOld ? 1 : failedLogins.count + 1
    if (isRight && account.enabled) {
      account.failedLogins = { count: 0, last: 0, blockedUntil: 0 }
      return 'accepted'
    }
    const wait = count < 5 ? 0 : Math.min(1_000 * 2 ** (count - 5), 900_000)
    account.failedLogins = { count, last: now, blockedUntil: now + wait }
    return 'refused'
  }
}

function isOver({ lastSeen, absoluteEnd }: Session, now: number): boolean {
  return lastSeen + sessionIdleMilliseconds <= now || absoluteEnd <= now
}

/** What the clean-up deletes: sessions unused for a long time, whenever they ended. */
export function forgetExpired(model: Model, now: number): void {
  for (const session of model.sessions) {
    const keptUntil = session.lastSeen + sessionIdleMilliseconds + sessionKeptMilliseconds
    if (keptUntil <= now) model.sessions.delete(session)
  }
}

/** Gives the session another id. To make room, ids that no longer work are removed, then the oldest. */
export function addId(session: Session, id: string, now: number): void {
  for (const [old, retired] of session.ids) if (retired !== null && retired <= now) session.ids.delete(old)
  const [oldest] = session.ids.keys()
  if (session.ids.size >= idsLimit && oldest !== undefined) session.ids.delete(oldest)
  session.ids.set(id, null)
}

/** Whether the token works. */
export function isGood({ isUsed, family, expires }: RefreshToken, now: number): boolean {
  return !isUsed && !family.isRevoked && expires > now && family.end > now
}

export function idleEnd(session: Session): number {
  return Math.min(session.lastSeen + sessionIdleMilliseconds, session.absoluteEnd)
}

/** The item at this index from the end, wrapping around; undefined if there is none. */
export function fromEnd<T>(items: readonly T[], index: number): T | undefined {
  return items.at(-1 - (index % Math.max(1, items.length)))
}

export function required<T>(value: T | undefined | null): T {
  assert.ok(value !== undefined && value !== null)
  return value
}
