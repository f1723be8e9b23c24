import { DatabaseRefused } from './errors.ts'

export type DatabaseAddress = { engine: 'sqlite'; file: string } | { engine: 'postgres'; url: string }

const ofServer = /^postgres(ql)?:\/\//

/** Parses DATABASE_URL. Throws `DatabaseRefused`, without the address, which may hold a password. */
export function parseDatabaseUrl(databaseUrl: string): DatabaseAddress {
  if (ofServer.test(databaseUrl)) {
    const fault = faultOf(databaseUrl)
    if (fault !== undefined) throw new DatabaseRefused(`DATABASE_URL: ${fault}`)
    return { engine: 'postgres', url: databaseUrl }
  }
  if (!databaseUrl.startsWith('file:')) {
    const isKeywords = /^\s*[a-z_]+\s*=/.test(databaseUrl)
    throw new DatabaseRefused(
      'DATABASE_URL: must be file:PATH (SQLite) or postgres://... (PostgreSQL)' +
        (isKeywords ? '; the form `host=... dbname=...` is not understood' : ''),
    )
  }
  const file = databaseUrl.slice('file:'.length).replace(/^\/\/(?=\/)/, '')
  // Anything that cannot be a path is a typing mistake and may hold a secret, so it is not repeated.
  if (file === '' || file.startsWith(':') || file.length > 1_000 || /\p{Cc}/u.test(file)) {
    throw new DatabaseRefused('DATABASE_URL: file: must be followed by the path of a file')
  }
  return { engine: 'sqlite', file }
}

/** The address of a database that a person names by its address, or by the path of its file. */
export const addressOf = (given: string) =>
  given.startsWith('file:') || ofServer.test(given) ? given : `file:${given}`

/** The address of a server, with the password that it leaves out. Throws `Error`, without either. */
export function withPassword(databaseUrl: string, password: string): string {
  if (!ofServer.test(databaseUrl)) throw new Error('DATABASE_URL names no PostgreSQL server')
  if (/^\w+:\/\/[^/?#]*:[^/?#]*@|[?&]password=/.test(databaseUrl)) {
    throw new Error('DATABASE_URL has a password too')
  }
  return `${databaseUrl}${databaseUrl.includes('?') ? '&' : '?'}password=${encodeURIComponent(password)}`
}

/** The parameters of libpq that the driver understands. It ignores all others, even a misspelt `sslmode`. */
const parameters =
  'host port user password sslmode sslrootcert sslcert sslkey sslnegotiation uselibpqcompat application_name options'

/** Values that the driver would accept, only to fail on them later or ignore them. */
const formOf: Record<string, [fits: RegExp, what: string]> = {
  host: [
    /^(?:\/[^\p{Cc},]{0,100}|[\w.:-]{1,253})$/u,
    'one host or one folder of a socket: give the host that leads to the primary',
  ],
  port: [
    /^(?:[1-9]\d{0,3}|[1-5]\d{4}|6[0-4]\d{3}|65[0-4]\d\d|655[0-2]\d|6553[0-5])$/,
    'one port, from 1 to 65535',
  ],
  sslmode: [
    /^(?:disable|allow|prefer|require|verify-ca|verify-full|no-verify)$/,
    'one of disable, allow, prefer, require, verify-ca, verify-full, no-verify',
  ],
}

/** The fault in a PostgreSQL address, in words that cannot hold a password. */
function faultOf(address: string): string | undefined {
  // The driver also accepts a user without a host, with the socket as a parameter.
  const withHost = address.replace(/^(\w+:\/\/[^/?#]*@)(?=\/)/, '$1localhost')
  const hosts = /^\w+:\/\/(?:[^/?#]*@)?([^/?#]*)/.exec(address)?.[1] ?? ''
  if (hosts.includes(',')) return 'several hosts are not understood: give the one that leads to the primary'
  if (!URL.canParse(withHost)) {
    return 'the address is not a valid URL (in a user name or password write # / ? : @ % as %23 %2F %3F %3A %40 %25)'
  }
  const given = [...new URL(withHost).searchParams]
  for (const [name, value] of given) {
    const [fits, what] = formOf[name] ?? [/^\P{Cc}*$/u, 'one line']
    if (!fits.test(value)) return `the parameter ${name} must be ${what}`
    if (given.filter((other) => other[0] === name).length > 1) return `the parameter ${name} is given twice`
  }
  const known = parameters.split(' ')
  const unknown = given.map(([name]) => name).filter((name) => !known.includes(name))
  if (unknown.length === 0) return undefined
  const named = unknown.every((name) => /^[a-z_]+$/i.test(name)) ? ` (${unknown.join(', ')})` : ''
  return `the address has a parameter that is not understood${named}; those that are: ${known.join(', ')}`
}

/** The file that holds the database; undefined if the address names a server. */
export function databaseFile(databaseUrl: string): string | undefined {
  const address = parseDatabaseUrl(databaseUrl)
  return address.engine === 'sqlite' ? address.file : undefined
}
