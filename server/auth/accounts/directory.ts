import type { Clock } from '../../clock.ts'
import type { AppDatabase } from '../../operations.ts'
import { isPermission, type Permission } from '../permissions.ts'
import { readRolePermissions } from '../roles/store.ts'
import { findPrincipalState, type PrincipalState } from './store.ts'

const principalsLimit = 10_000
const roleSetsLimit = 1_000

interface RolePermissions {
  byRole: Map<string, Permission[]>
  /** Resolved before, by the joined role names; as old as what it was resolved from. */
  setsByRoles: Map<string, ReadonlySet<Permission>>
}

interface Aged<T> {
  readAt: number
  value: Promise<T>
}

/**
 * What is remembered of roles and accounts, never older than `ttlSeconds` (section 6 of the contract: 5 minutes at
 * most). A read that fails is not remembered.
 */
export class Directory {
  readonly #db: AppDatabase
  readonly #clock: Clock
  readonly #ttlMilliseconds: number
  #rolePermissions: Aged<RolePermissions> | undefined
  readonly #principals = new Map<string, Aged<PrincipalState | undefined>>()

  constructor(db: AppDatabase, clock: Clock, ttlSeconds: number) {
    this.#db = db
    this.#clock = clock
    this.#ttlMilliseconds = ttlSeconds * 1000
  }

  /** What the roles hold together; a role that is gone holds nothing. */
  async permissionsOf(roles: readonly string[]): Promise<ReadonlySet<Permission>> {
    if (this.#rolePermissions === undefined || !this.#isFresh(this.#rolePermissions)) {
      const value = this.#readRolePermissions()
      const aged: Aged<RolePermissions> = { readAt: this.#clock(), value }
      this.#rolePermissions = aged
      value.catch(() => {
        if (this.#rolePermissions === aged) this.#rolePermissions = undefined
      })
    }
    return resolvePermissions(await this.#rolePermissions.value, roles)
  }

  /** `subject` as in a token. May be as old as the memory: good enough to grant by. */
  async principal(subject: string): Promise<PrincipalState | undefined> {
    const known = this.#principals.get(subject)
    return known !== undefined && this.#isFresh(known) ? known.value : this.currentPrincipal(subject)
  }

  /** Read now, and remembered. */
  async currentPrincipal(subject: string): Promise<PrincipalState | undefined> {
    this.#principals.delete(subject)
    if (this.#principals.size >= principalsLimit) {
      const oldest = this.#principals.keys().next().value
      if (oldest !== undefined) this.#principals.delete(oldest)
    }
    const value = findPrincipalState(this.#db.read, subject)
    const aged: Aged<PrincipalState | undefined> = { readAt: this.#clock(), value }
    this.#principals.set(subject, aged)
    value.catch(() => {
      if (this.#principals.get(subject) === aged) this.#principals.delete(subject)
    })
    return value
  }

  /** A clock that was set back must not keep a memory alive. */
  #isFresh(memory: { readAt: number }): boolean {
    const age = this.#clock() - memory.readAt
    return age >= 0 && age < this.#ttlMilliseconds
  }

  async #readRolePermissions(): Promise<RolePermissions> {
    const byRole = new Map<string, Permission[]>()
    for (const { role, permission } of await readRolePermissions(this.#db.read)) {
      if (!isPermission(permission)) continue
      byRole.set(role, [...(byRole.get(role) ?? []), permission])
    }
    return { byRole, setsByRoles: new Map() }
  }
}

/** The same set for the same roles, as long as they are remembered. */
function resolvePermissions(
  { byRole, setsByRoles }: RolePermissions,
  roles: readonly string[],
): ReadonlySet<Permission> {
  const key = roles.length === 1 ? (roles[0] ?? '') : roles.join('\n')
  const known = setsByRoles.get(key)
  if (known !== undefined) return known
  const set = new Set(roles.flatMap((role) => byRole.get(role) ?? []))
  if (setsByRoles.size < roleSetsLimit) setsByRoles.set(key, set)
  return set
}
