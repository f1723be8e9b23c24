import { isPermission, type Permission, permissionsOfPeople } from '../../caller/permissions.ts'
import type { Principal } from '../../caller/principal.ts'
import type { Clock } from '../../clock.ts'
import { Latest } from '../../db/latest.ts'
import type { AppDatabase } from '../../db/port.ts'
import { readRolePermissions } from './roles/store.ts'
import { findPrincipalState, type PrincipalState } from './store.ts'

const memoryLimit = 10_000

/** Remembers what was read under a key for at most `ttlMilliseconds`. A read that fails is not remembered. */
class Memory<T> {
  readonly #read: (key: string) => Promise<T>
  readonly #clock: Clock
  readonly #ttlMilliseconds: number
  readonly #known = new Latest<{ readAt: number; value: Promise<T> }>(memoryLimit)

  constructor(read: (key: string) => Promise<T>, clock: Clock, ttlMilliseconds: number) {
    this.#read = read
    this.#clock = clock
    this.#ttlMilliseconds = ttlMilliseconds
  }

  get(key: string): Promise<T> {
    const known = this.#known.get(key)
    if (known === undefined) return this.renew(key)
    // If the clock was set back the age is negative, and must not keep a memory alive.
    const age = this.#clock() - known.readAt
    return age >= 0 && age < this.#ttlMilliseconds ? known.value : this.renew(key)
  }

  /** Reads now, even if a value is remembered. */
  renew(key: string): Promise<T> {
    const value = this.#read(key)
    this.#known.set(key, { readAt: this.#clock(), value })
    value.catch(() => {
      if (this.#known.get(key)?.value === value) this.#known.delete(key)
    })
    return value
  }

  forget(key: string): void {
    this.#known.delete(key)
  }

  forgetAll(): void {
    this.#known.clear()
  }
}

/** Accounts and the permissions of roles, at most `ttlSeconds` old (section 6 of the contract: 5 minutes). */
export class Directory {
  readonly #db: AppDatabase
  readonly #principals: Memory<PrincipalState | undefined>
  readonly #permissions: Memory<ReadonlySet<Permission>>

  constructor(db: AppDatabase, clock: Clock, ttlSeconds: number) {
    const { read } = db
    this.#db = db
    const ttlMilliseconds = ttlSeconds * 1000
    this.#principals = new Memory((subject) => findPrincipalState(read, subject), clock, ttlMilliseconds)
    this.#permissions = new Memory((key) => readPermissions(read, JSON.parse(key)), clock, ttlMilliseconds)
  }

  /** The permissions of all the roles together, for a user or for a service; a removed role holds none. */
  permissionsOf(
    roles: readonly string[],
    kind: PrincipalState['kind'] = 'user',
  ): Promise<ReadonlySet<Permission>> {
    return this.#permissions.get(JSON.stringify({ roles, kind }))
  }

  /** `db.write` for a change of accounts or roles: this instance then remembers nothing from before. */
  readonly change: AppDatabase['write'] = (name, input) =>
    this.#db.write(name, input).finally(() => {
      this.#principals.forgetAll()
      this.#permissions.forgetAll()
    })

  /** `subject` as in a token. May be out of date: good enough to admit a caller, but not to refuse one. */
  principal(subject: string): Promise<PrincipalState | undefined> {
    return this.#principals.get(subject)
  }

  /** Reads now, and remembers the result. */
  currentPrincipal(subject: string): Promise<PrincipalState | undefined> {
    return this.#principals.renew(subject)
  }

  forget({ kind, id, userName }: Principal): void {
    this.#principals.forget(kind === 'user' ? String(id) : userName)
  }
}

async function readPermissions(
  read: AppDatabase['read'],
  { roles, kind }: { roles: string[]; kind: PrincipalState['kind'] },
): Promise<Set<Permission>> {
  const held = (await readRolePermissions(read)).filter(({ role }) => roles.includes(role))
  const known = held.map(({ permission }) => permission).filter(isPermission)
  return new Set(known.filter((permission) => kind === 'user' || !permissionsOfPeople.includes(permission)))
}
