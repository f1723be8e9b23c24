import { isAccountName, normalizeEmail } from '../auth/accounts/names.ts'
import { foldName } from '../auth/accounts/store.ts'
import type { ImportedUser } from '../auth/accounts/users/import/store.ts'
import { markImported, passwordHashFault } from '../auth/credentials/passwords/imported.ts'
import { parseTimeZone } from '../clock.ts'
import type { UserRecord, WrittenUser } from './user-file.ts'

/** A rule that a line breaks; `field` is null if the line breaks it as a whole. */
export interface Fault {
  line: number
  field: keyof WrittenUser | null
  rule: string
}

const rolesLimit = 50

/**
 * Reads the users of a file by the rules of accounts. Remembers names and emails, because each may occur only
 * once.
 */
export class UserRules {
  readonly #roles: ReadonlyMap<string, string>
  readonly #names = new Map<string, number>()
  readonly #emails = new Map<string, number>()

  constructor(roles: readonly string[]) {
    this.#roles = new Map(roles.map((role) => [role.toLowerCase(), role]))
  }

  /** Undefined if it breaks a rule; then `refuse` gets each of them. */
  read(record: UserRecord, refuse: (fault: Fault) => void): ImportedUser | undefined {
    const { line } = record
    if ('rule' in record) {
      refuse({ line, field: null, rule: record.rule })
      return undefined
    }
    let isRight = true
    const broken = (field: keyof WrittenUser, rule: string) => {
      isRight = false
      refuse({ line, field, rule })
      return ''
    }
    const { name, email, roles, zone, passwordHash } = record.user
    const user = {
      userName: this.#nameOf(name, line, (rule) => broken('name', rule)),
      email: this.#emailOf(email, line, (rule) => broken('email', rule)),
      roles: this.#rolesOf(roles, (rule) => broken('roles', rule)),
      timeZone: zoneOf(zone, (rule) => broken('zone', rule)),
      passwordHash: hashOf(passwordHash, (rule) => broken('passwordHash', rule)),
    }
    return isRight ? user : undefined
  }

  #nameOf(name: unknown, line: number, broken: Broken): string {
    if (typeof name !== 'string' || !isAccountName(name)) {
      return broken('must begin with a letter and have at most 64 letters, digits and . _ -')
    }
    return firstLine(this.#names, foldName(name), line, broken) ?? name
  }

  #emailOf(email: unknown, line: number, broken: Broken): string {
    const normalized = typeof email === 'string' ? normalizeEmail(email) : undefined
    if (normalized === undefined)
      return broken('must have 3 to 254 characters, with one @ inside and no spaces')
    return firstLine(this.#emails, normalized, line, broken) ?? normalized
  }

  #rolesOf(roles: unknown, broken: Broken): string[] {
    if (roles === undefined || roles === null) return []
    if (!Array.isArray(roles) || roles.length > rolesLimit) {
      broken(`must be a list of at most ${rolesLimit} roles`)
      return []
    }
    const spelled = roles.map((role) =>
      typeof role === 'string' ? this.#roles.get(role.toLowerCase()) : undefined,
    )
    if (spelled.includes(undefined)) broken(`must be among ${[...this.#roles.values()].join(', ')}`)
    return [...new Set(spelled.filter((role) => role !== undefined))].sort()
  }
}

/** Reports the rule and returns an empty text. */
type Broken = (rule: string) => string

function firstLine(
  lines: Map<string, number>,
  key: string,
  line: number,
  broken: Broken,
): string | undefined {
  const first = lines.get(key)
  if (first !== undefined) return broken(`is that of line ${first}`)
  lines.set(key, line)
  return undefined
}

function zoneOf(zone: unknown, broken: Broken): string | null {
  if (zone === undefined || zone === null) return null
  const parsed = typeof zone === 'string' ? parseTimeZone(zone) : undefined
  return parsed ?? broken('must be an IANA name such as Europe/Berlin')
}

function hashOf(passwordHash: unknown, broken: Broken): string | null {
  if (passwordHash === undefined || passwordHash === null) return null
  if (typeof passwordHash !== 'string') return broken('must be a string')
  const fault = passwordHashFault(passwordHash)
  return fault === undefined ? markImported(passwordHash) : broken(fault)
}
