import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { parseTimeZone } from './clock.ts'
import type { ConnectOptions } from './db/open.ts'

/** Lists every fault of the configuration at once; one line each, no secret. */
export class ConfigurationError extends Error {
  override name = 'ConfigurationError'
  readonly faults: string[]

  constructor(faults: string[]) {
    super(faults.join('\n'))
    this.faults = faults
  }
}

interface Setting<T> {
  description: string
  /** For the reference page; what an absent setting means. */
  defaultText: string
  /** Throws an Error whose message is the rule that `text` broke. */
  parse(text: string): T
}

function integer(
  minimum: number,
  maximum: number,
  description: string,
  defaultText: string,
): Setting<number> {
  return {
    description: `${description} (${minimum} to ${maximum})`,
    defaultText,
    parse(text) {
      const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
      if (!(value >= minimum && value <= maximum)) {
        throw new Error(`must be a whole number from ${minimum} to ${maximum}`)
      }
      return value
    },
  }
}

function decimal(
  minimum: number,
  maximum: number,
  description: string,
  defaultText: string,
): Setting<number> {
  return {
    description: `${description} (${minimum} to ${maximum})`,
    defaultText,
    parse(text) {
      const value = /^\d{1,9}(\.\d{1,6})?$/.test(text) ? Number(text) : Number.NaN
      if (!(value >= minimum && value <= maximum)) {
        throw new Error(`must be a number from ${minimum} to ${maximum}`)
      }
      return value
    },
  }
}

function text(description: string, defaultText: string): Setting<string> {
  return { description, defaultText, parse: (value) => value }
}

function list(description: string, check: (item: string) => string = (item) => item): Setting<string[]> {
  return {
    description: `${description} (comma-separated)`,
    defaultText: 'none',
    parse: (value) =>
      value
        .split(',')
        .map((item) => item.trim())
        .filter((item) => item !== '')
        .map(check),
  }
}

function oneOf<const T extends string>(values: readonly T[], description: string): Setting<T> {
  return {
    description: `${description}: ${values.map((value) => `\`${value}\``).join(', ')}`,
    defaultText: `\`${values[0]}\``,
    parse(value) {
      const found = values.find((candidate) => candidate === value)
      if (found === undefined) throw new Error(`must be one of ${values.join(', ')}`)
      return found
    },
  }
}

/** An origin without path; plain http is accepted for loopback only, where a browser keeps Secure cookies. */
function parseOrigin(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : undefined
  const http = url?.protocol === 'http:' || url?.protocol === 'https:'
  if (
    url === undefined ||
    !http ||
    url.search !== '' ||
    url.hash !== '' ||
    url.username !== '' ||
    url.pathname !== '/'
  ) {
    throw new Error('must be an http or https origin without path, such as https://orders.example.com')
  }
  return url.origin
}

function parsePublicUrl(value: string): string {
  const origin = parseOrigin(value)
  const { protocol, hostname } = new URL(origin)
  if (protocol === 'http:' && !isLoopbackHost(hostname)) {
    throw new Error('must be https: browsers keep the session cookie only on a secure origin')
  }
  return origin
}

/** True for the names and addresses by which a machine reaches itself; takes a URL's hostname. */
export function isLoopbackHost(hostname: string): boolean {
  return (
    hostname === 'localhost' ||
    hostname.endsWith('.localhost') ||
    hostname === '[::1]' ||
    /^127(\.\d{1,3}){3}$/.test(hostname)
  )
}

function parseAddressRange(value: string): string {
  const [address = '', bits, ...rest] = value.split('/')
  const family = isIP(address)
  const bitsAreFine =
    bits === undefined ||
    (/^\d{1,3}$/.test(bits) && Number(bits) >= 1 && Number(bits) <= (family === 6 ? 128 : 32))
  if (family === 0 || !bitsAreFine || rest.length > 0) {
    throw new Error('must hold IP addresses or ranges such as 10.0.0.0/8')
  }
  return value
}

function parseAntiforgeryKey(value: string): Buffer {
  const trimmed = value.trim()
  const key = Buffer.from(trimmed, 'base64')
  if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(trimmed) || key.length < 32) {
    throw new Error('must be at least 32 bytes in base64 (node server/main.ts key generate --antiforgery)')
  }
  return key
}

const year = 366 * 86_400

/** Every setting once, with its unit, bounds and meaning. docs/configuration.md is generated from it. */
export const settings = {
  HOST: text('Address to listen on', '`127.0.0.1` in development, `0.0.0.0` in production'),
  PORT: integer(0, 65_535, 'Port to listen on; 0 takes a free one and prints it', '`8080`'),
  PUBLIC_URL: {
    description:
      'Origin under which clients reach the service: token issuer and audience, problem types, origin checks. ' +
      'https, except on loopback',
    defaultText: '`http://localhost:<port>` in development; required in production',
    parse: parsePublicUrl,
  } satisfies Setting<string>,
  DATABASE_URL: text(
    '`file:PATH` is embedded SQLite, `postgres://user:password@host:port/database` is PostgreSQL',
    '`file:./data/development.db` in development, `file:./data/countersign.db` in production',
  ),
  DATABASE_POOL_SIZE: integer(1, 200, 'PostgreSQL: connections of an instance for transactions', '`10`'),
  DATABASE_POOLER: oneOf(
    ['none', 'transaction'],
    'PostgreSQL: a pooler in between that hands out connections by transaction (PgBouncer, RDS Proxy)',
  ),
  DATABASE_START_TIMEOUT_SECONDS: integer(
    0,
    3_600,
    'PostgreSQL: how long to wait at start for a server that does not answer yet, in seconds',
    '`60`',
  ),
  SIGNING_KEY_FILES: list(
    'PEM files with RSA private keys of 2048 bits or more: the first signs, all verify and are published',
  ),
  ANTIFORGERY_KEY: {
    description: 'Key of the antiforgery tokens, the same on every instance: at least 32 bytes, base64',
    defaultText: 'made per run in development; this or `ANTIFORGERY_KEY_FILE` is required in production',
    parse: parseAntiforgeryKey,
  } satisfies Setting<Buffer>,
  ANTIFORGERY_KEY_FILE: {
    description: 'File that holds the antiforgery key',
    defaultText: 'none',
    parse(value) {
      let content: string
      try {
        content = readFileSync(value, 'utf8')
      } catch (error) {
        throw new Error(`cannot be read (${(error as NodeJS.ErrnoException).code})`)
      }
      return parseAntiforgeryKey(content)
    },
  } satisfies Setting<Buffer>,
  ACCESS_TOKEN_TTL_SECONDS: integer(1, year, 'Life of a user’s access token, in seconds', '`900`'),
  SERVICE_TOKEN_TTL_SECONDS: integer(1, year, 'Life of a service’s access token, in seconds', '`3600`'),
  REFRESH_TOKEN_IDLE_TTL_SECONDS: integer(
    1,
    year,
    'Life of an unused refresh token, in seconds',
    '`1209600`',
  ),
  REFRESH_TOKEN_FAMILY_TTL_SECONDS: integer(
    1,
    year,
    'Life of a chain of refresh tokens, in seconds',
    '`2592000`',
  ),
  SESSION_IDLE_TTL_SECONDS: integer(1, year, 'Life of an unused session, in seconds', '`1800`'),
  SESSION_ABSOLUTE_TTL_SECONDS: integer(1, year, 'Life of a session, in seconds', '`28800`'),
  PERMISSION_CACHE_TTL_SECONDS: integer(
    0,
    300,
    'Age at most of what is remembered of role permissions and of accounts, in seconds',
    '`300`',
  ),
  RATE_LIMIT_FACTOR: decimal(
    0,
    1_000_000,
    'Multiplies every request limit; 0 switches the request limits off (the waits after failed sign-ins stay)',
    '`1`; `10` in development',
  ),
  RATE_LIMIT_ANONYMOUS: integer(1, 1e9, 'Requests a minute without a valid credential, by address', '`300`'),
  RATE_LIMIT_STATIC: integer(1, 1e9, 'Static files a minute, by address', '`3000`'),
  RATE_LIMIT_EXCHANGE: integer(1, 1e9, 'Credential exchanges a minute, by address', '`60`'),
  RATE_LIMIT_REFRESH: integer(1, 1e9, 'Refreshes a minute, by session or token family', '`60`'),
  RATE_LIMIT_REFRESH_ADDRESS: integer(1, 1e9, 'Refreshes a minute, by address', '`600`'),
  RATE_LIMIT_READ: integer(1, 1e9, 'Reads a minute, by caller', '`1200`'),
  RATE_LIMIT_WRITE: integer(1, 1e9, 'Writes a minute, by caller', '`300`'),
  TRUSTED_PROXIES: list('Addresses or CIDR ranges whose X-Forwarded-For is believed', parseAddressRange),
  CORS_ORIGINS: list('Origins whose scripts may call the API with a bearer token', parseOrigin),
  DEFAULT_TIME_ZONE: {
    description: 'IANA zone of the audit stamps when neither the request nor the user has one',
    defaultText: '`UTC`',
    parse(value) {
      const zone = parseTimeZone(value)
      if (zone === undefined) throw new Error('must be an IANA time zone such as Europe/Berlin')
      return zone
    },
  } satisfies Setting<string>,
  LOG_LEVEL: oneOf(
    ['info', 'trace', 'debug', 'warn', 'error', 'fatal', 'silent'],
    'Least level that is logged',
  ),
  METRICS_PORT: integer(
    1,
    65_535,
    'Port of the Prometheus metrics, on a listener of its own at HOST',
    'none',
  ),
  SIGNING_ALGORITHM: oneOf(['RS256', 'PS256'], 'Signature algorithm of access tokens'),
} satisfies Record<string, Setting<unknown>>

type Settings = { [Name in keyof typeof settings]?: ReturnType<(typeof settings)[Name]['parse']> }

export interface Config {
  development: boolean
  host: string
  port: number
  /** Undefined in development: it follows from the port that is listened on. */
  publicUrl: string | undefined
  database: ConnectOptions
  signingKeyFiles: string[]
  antiforgeryKey: Buffer | undefined
  antiforgeryKeyFile: string | undefined
  accessTokenTtlSeconds: number
  serviceTokenTtlSeconds: number
  refreshTokenIdleTtlSeconds: number
  refreshTokenFamilyTtlSeconds: number
  sessionIdleTtlSeconds: number
  sessionAbsoluteTtlSeconds: number
  permissionCacheTtlSeconds: number
  rateLimits: RateLimits
  trustedProxies: string[]
  corsOrigins: string[]
  defaultTimeZone: string
  logLevel: string
  metricsPort: number | undefined
  signingAlgorithm: 'RS256' | 'PS256'
  /** Development only: listen beyond loopback and answer foreign Host headers. */
  allowRemoteDemo: boolean
}

/** Requests a minute; a factor of 0 switches all of them off. */
export interface RateLimits {
  factor: number
  anonymous: number
  static: number
  exchange: number
  refresh: number
  refreshAddress: number
  read: number
  write: number
}

export interface RunMode {
  development: boolean
  allowRemoteDemo?: boolean
}

/**
 * Reads every setting once; an empty value counts as absent. Throws `ConfigurationError` with all faults. Production
 * fails closed: what development makes per run has to be given (section 12 of the contract).
 */
export function readConfig(env: Record<string, string | undefined>, mode: RunMode): Config {
  const faults: string[] = []
  const given = parseSettings(env, faults)
  const { development, allowRemoteDemo = false } = mode
  if (!development) faults.push(...missingInProduction(given, env))
  if (development && given.HOST !== undefined && !allowRemoteDemo && !isLoopbackHost(bracketed(given.HOST))) {
    faults.push(
      'HOST: development listens on loopback only, for its accounts are public (--allow-remote-demo lifts this)',
    )
  }
  if (faults.length > 0) throw new ConfigurationError(faults)
  return {
    development,
    allowRemoteDemo,
    host: given.HOST ?? (development && !allowRemoteDemo ? '127.0.0.1' : '0.0.0.0'),
    port: given.PORT ?? 8080,
    publicUrl: given.PUBLIC_URL,
    database: {
      databaseUrl: given.DATABASE_URL ?? defaultDatabaseUrl(development),
      poolSize: given.DATABASE_POOL_SIZE ?? 10,
      transactionPooler: given.DATABASE_POOLER === 'transaction',
      startTimeoutMilliseconds: (given.DATABASE_START_TIMEOUT_SECONDS ?? 60) * 1000,
    },
    signingKeyFiles: given.SIGNING_KEY_FILES ?? [],
    antiforgeryKey: given.ANTIFORGERY_KEY ?? given.ANTIFORGERY_KEY_FILE,
    antiforgeryKeyFile: env.ANTIFORGERY_KEY_FILE || undefined,
    accessTokenTtlSeconds: given.ACCESS_TOKEN_TTL_SECONDS ?? 900,
    serviceTokenTtlSeconds: given.SERVICE_TOKEN_TTL_SECONDS ?? 3600,
    refreshTokenIdleTtlSeconds: given.REFRESH_TOKEN_IDLE_TTL_SECONDS ?? 1_209_600,
    refreshTokenFamilyTtlSeconds: given.REFRESH_TOKEN_FAMILY_TTL_SECONDS ?? 2_592_000,
    sessionIdleTtlSeconds: given.SESSION_IDLE_TTL_SECONDS ?? 1800,
    sessionAbsoluteTtlSeconds: given.SESSION_ABSOLUTE_TTL_SECONDS ?? 28_800,
    permissionCacheTtlSeconds: given.PERMISSION_CACHE_TTL_SECONDS ?? 300,
    rateLimits: {
      factor: given.RATE_LIMIT_FACTOR ?? (development ? 10 : 1),
      anonymous: given.RATE_LIMIT_ANONYMOUS ?? 300,
      static: given.RATE_LIMIT_STATIC ?? 3000,
      exchange: given.RATE_LIMIT_EXCHANGE ?? 60,
      refresh: given.RATE_LIMIT_REFRESH ?? 60,
      refreshAddress: given.RATE_LIMIT_REFRESH_ADDRESS ?? 600,
      read: given.RATE_LIMIT_READ ?? 1200,
      write: given.RATE_LIMIT_WRITE ?? 300,
    },
    trustedProxies: given.TRUSTED_PROXIES ?? [],
    corsOrigins: given.CORS_ORIGINS ?? [],
    defaultTimeZone: given.DEFAULT_TIME_ZONE ?? 'UTC',
    logLevel: given.LOG_LEVEL ?? 'info',
    metricsPort: given.METRICS_PORT,
    signingAlgorithm: given.SIGNING_ALGORITHM ?? 'RS256',
  }
}

/** The database of the administration commands: the one that `serve` would use. */
export function readDatabaseUrl(env: Record<string, string | undefined>, mode: RunMode): string {
  return env.DATABASE_URL || defaultDatabaseUrl(mode.development)
}

function defaultDatabaseUrl(development: boolean): string {
  return development ? 'file:./data/development.db' : 'file:./data/countersign.db'
}

function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}

function parseSettings(env: Record<string, string | undefined>, faults: string[]): Settings {
  const given: Record<string, unknown> = {}
  for (const [name, setting] of Object.entries(settings)) {
    const value = env[name]
    if (value === undefined || value === '') continue
    try {
      given[name] = setting.parse(value)
    } catch (error) {
      faults.push(`${name}: ${(error as Error).message}`)
    }
  }
  return given as Settings
}

/** A setting that is given but faulty has been reported already. */
function missingInProduction(given: Settings, env: Record<string, string | undefined>): string[] {
  const missing: string[] = []
  if (!env.PUBLIC_URL) missing.push('PUBLIC_URL: required in production, such as https://orders.example.com')
  if (given.SIGNING_KEY_FILES === undefined || given.SIGNING_KEY_FILES.length === 0) {
    missing.push('SIGNING_KEY_FILES: required in production (node server/main.ts key generate makes one)')
  }
  if (!env.ANTIFORGERY_KEY && !env.ANTIFORGERY_KEY_FILE) {
    missing.push(
      'ANTIFORGERY_KEY or ANTIFORGERY_KEY_FILE: required in production ' +
        '(node server/main.ts key generate --antiforgery makes one)',
    )
  }
  return missing
}
