import type { ConnectOptions } from './db/open.ts'
import {
  asGiven,
  type Default,
  decimal,
  hostName,
  isLoopbackHost,
  list,
  number,
  oneLine,
  oneOf,
  parseAddressRange,
  parseAntiforgeryKey,
  parseContact,
  parseCurrency,
  parseOrigin,
  parsePublicUrl,
  parseTimeZoneName,
  readAntiforgeryKey,
  type Setting,
} from './setting.ts'

/** Lists every fault of the configuration at once; one line each, no secret. */
export class ConfigurationError extends Error {
  override name = 'ConfigurationError'
  readonly faults: string[]

  constructor(faults: string[]) {
    super(faults.join('\n'))
    this.faults = faults
  }
}

const lifetime = [1, 366 * 86_400] as const
const perMinute = [1, 1e9] as const

/** Every setting once, with its unit, bounds, default and meaning. docs/configuration.md is generated from it. */
export const settings = {
  HOST: {
    description: 'Address to listen on',
    default: { development: '127.0.0.1', production: '0.0.0.0' },
    parse: hostName,
  },
  PORT: number([0, 65_535], 8080, 'Port to listen on; 0 takes a free one and prints it'),
  PUBLIC_URL: {
    description:
      'Origin under which clients reach the service: token issuer and audience, metadata, problem types, origin checks. ' +
      'https, except on loopback',
    default: undefined,
    defaultText: '`http://localhost:<port>` in development; required in production',
    parse: parsePublicUrl,
  },
  DATABASE_URL: {
    description:
      '`file:PATH` is embedded SQLite, `postgres://user:password@host:port/database` is PostgreSQL, ' +
      '`postgres:///database?host=/folder&user=name` the same by a socket',
    default: {
      development: 'file:./data/development.db',
      production: 'file:./data/countersign.db',
    },
    parse: asGiven,
  },
  DATABASE_POOL_SIZE: number([1, 200], 10, 'PostgreSQL: connections of an instance for transactions'),
  DATABASE_POOLER: oneOf(
    ['none', 'transaction'],
    'PostgreSQL: a pooler in between that hands out connections by transaction (PgBouncer, RDS Proxy)',
  ),
  DATABASE_START_TIMEOUT_SECONDS: number(
    [0, 3_600],
    60,
    'PostgreSQL: how long to wait at start for a server that does not answer yet, in seconds',
  ),
  SIGNING_KEY_FILES: list(
    'PEM files with RSA private keys of 2048 bits or more: the first signs, all verify and are published',
    asGiven,
  ),
  ANTIFORGERY_KEY: {
    description:
      'Key of the antiforgery tokens and of the tags of refresh tokens, the same on every instance: at least 32 bytes, base64',
    default: undefined,
    defaultText: 'made per run in development; this or `ANTIFORGERY_KEY_FILE` is required in production',
    parse: parseAntiforgeryKey,
  },
  ANTIFORGERY_KEY_FILE: {
    description: 'File that holds the antiforgery key',
    default: undefined,
    parse: (file) => ({ file, key: readAntiforgeryKey(file) }),
  },
  ACCESS_TOKEN_TTL_SECONDS: number(lifetime, 900, 'Life of a user’s access token, in seconds'),
  SERVICE_TOKEN_TTL_SECONDS: number(lifetime, 3_600, 'Life of a service’s access token, in seconds'),
  REFRESH_TOKEN_IDLE_TTL_SECONDS: number(
    lifetime,
    14 * 86_400,
    'Life of an unused refresh token, in seconds',
  ),
  REFRESH_TOKEN_FAMILY_TTL_SECONDS: number(
    lifetime,
    30 * 86_400,
    'Life of a chain of refresh tokens, in seconds',
  ),
  SESSION_IDLE_TTL_SECONDS: number(lifetime, 1_800, 'Life of an unused session, in seconds'),
  SESSION_ABSOLUTE_TTL_SECONDS: number(lifetime, 28_800, 'Life of a session, in seconds'),
  PERMISSION_CACHE_TTL_SECONDS: number(
    [0, 300],
    300,
    'How long role permissions and accounts are remembered, in seconds',
  ),
  RATE_LIMIT_FACTOR: number(
    [0, 1_000_000],
    { development: 10, production: 1 },
    'Multiplies every request limit; 0 switches the request limits off (the waits after failed sign-ins stay)',
    decimal,
  ),
  RATE_LIMIT_ANONYMOUS: number(perMinute, 300, 'Requests a minute without a valid credential, by address'),
  RATE_LIMIT_STATIC: number(perMinute, 3_000, 'Static files a minute, by address'),
  RATE_LIMIT_EXCHANGE: number(perMinute, 60, 'Credential exchanges a minute, by address'),
  RATE_LIMIT_REFRESH: number(perMinute, 60, 'Refreshes a minute, by session or token family'),
  RATE_LIMIT_REFRESH_ADDRESS: number(perMinute, 600, 'Refreshes a minute, by address'),
  RATE_LIMIT_READ: number(perMinute, 1_200, 'Reads a minute, by caller'),
  RATE_LIMIT_WRITE: number(perMinute, 300, 'Writes a minute, by caller'),
  TRUSTED_PROXIES: list('Addresses or CIDR ranges whose X-Forwarded-For is believed', parseAddressRange),
  CORS_ORIGINS: list('Origins whose scripts may call the API with a bearer token', parseOrigin),
  SECURITY_CONTACT: list(
    'Whom to tell of a vulnerability, the preferred first: `mailto:`, `https:` or `tel:` addresses, given out at ' +
      '`/.well-known/security.txt` (RFC 9116), which is not there without',
    parseContact,
  ),
  DEFAULT_TIME_ZONE: {
    description: 'IANA zone of the audit stamps when neither the request nor the user has one',
    default: 'UTC',
    parse: parseTimeZoneName,
  },
  CURRENCY: {
    description:
      'ISO 4217 code of the currency in which the web app shows totals, such as `EUR`; nothing else depends on it',
    default: undefined,
    parse: parseCurrency,
  },
  LOG_LEVEL: oneOf(
    ['info', 'trace', 'debug', 'warn', 'error', 'fatal', 'silent'],
    'Lowest level that is logged',
  ),
  DRAIN_SECONDS: number(
    [0, 600],
    { development: 0, production: 0.5 },
    'How long the service is not ready and still serves, after a signal to end, before it stops listening, in seconds',
    decimal,
  ),
  METRICS_PORT: number(
    [1, 65_535],
    undefined,
    'Port of the Prometheus metrics, on a listener of its own at HOST',
  ),
  SIGNING_ALGORITHM: oneOf(['RS256', 'PS256'], 'Signature algorithm of access tokens'),
} satisfies Record<string, Setting<unknown>>

/** The default of a setting, for the reference page. */
export function describeDefault({ default: fallback, defaultText }: Setting<unknown>): string {
  if (defaultText !== undefined) return defaultText
  if (isByEnvironment(fallback)) {
    return `\`${fallback.development}\` in development, \`${fallback.production}\` in production`
  }
  return fallback === undefined || (Array.isArray(fallback) && fallback.length === 0)
    ? 'none'
    : `\`${fallback}\``
}

function isByEnvironment<T>(fallback: Default<T>): fallback is { development: T; production: T } {
  return typeof fallback === 'object' && fallback !== null && 'development' in fallback
}

type ValueOf<S> = S extends { default: infer D; parse: (text: string) => infer T }
  ? T | (undefined extends D ? undefined : never)
  : never
type Settings = { [Name in keyof typeof settings]: ValueOf<(typeof settings)[Name]> }

/** `ACCESS_TOKEN_TTL_SECONDS` is `accessTokenTtlSeconds`. */
type CamelCase<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${Lowercase<First>}${Capitalize<CamelCase<Rest>>}`
  : Lowercase<Name>

/** Requests a minute; a factor of 0 switches all of them off. */
export type RateLimits = {
  [Name in keyof Settings as Name extends `RATE_LIMIT_${infer Rest}` ? CamelCase<Rest> : never]: number
}

type Gathered = `RATE_LIMIT_${string}` | `DATABASE_${string}` | `ANTIFORGERY_${string}`
const gathered = /^(?:RATE_LIMIT|DATABASE|ANTIFORGERY)_/

/** Every setting under its name in camel case, but for those that are gathered. */
export type Config = {
  [Name in keyof Settings as Name extends Gathered ? never : CamelCase<Name>]: Settings[Name]
} & {
  development: boolean
  /** Development only: listen beyond loopback and answer foreign Host headers. */
  allowRemoteDemo: boolean
  database: ConnectOptions
  antiforgeryKey: Buffer | undefined
  antiforgeryKeyFile: string | undefined
  rateLimits: RateLimits
}

export interface RunMode {
  development: boolean
  allowRemoteDemo?: boolean
}

/**
 * Reads every setting once; an empty value counts as absent. Throws `ConfigurationError` with all faults. Production
 * fails closed: what development makes per run has to be given (section 12 of the contract). In development PUBLIC_URL
 * is undefined: it follows from the port that is listened on.
 */
export function readConfig(env: Record<string, string | undefined>, mode: RunMode): Config {
  const { development, allowRemoteDemo = false } = mode
  const faults: string[] = []
  const values = readSettings(env, development, faults)
  if (!development) faults.push(...missingInProduction(env))
  if (development && !allowRemoteDemo && !isLoopbackHost(bracketed(values.HOST))) {
    faults.push(
      'HOST: development listens on loopback only, for its accounts are public (--allow-remote-demo lifts this)',
    )
  }
  if (faults.length > 0) throw new ConfigurationError(faults)
  const entries = Object.entries(values)
  const others = camelCased(entries.filter(([name]) => !gathered.test(name)))
  const limits = entries.filter(([name]) => name.startsWith('RATE_LIMIT_'))
  return {
    ...(others as Omit<Config, 'database' | 'rateLimits'>),
    host: allowRemoteDemo && !env.HOST ? settings.HOST.default.production : values.HOST,
    development,
    allowRemoteDemo,
    database: {
      databaseUrl: values.DATABASE_URL,
      poolSize: values.DATABASE_POOL_SIZE,
      transactionPooler: values.DATABASE_POOLER === 'transaction',
      startTimeoutMilliseconds: values.DATABASE_START_TIMEOUT_SECONDS * 1000,
    },
    antiforgeryKey: values.ANTIFORGERY_KEY ?? values.ANTIFORGERY_KEY_FILE?.key,
    antiforgeryKeyFile: values.ANTIFORGERY_KEY_FILE?.file,
    rateLimits: camelCased(
      limits.map(([name, value]) => [name.replace('RATE_LIMIT_', ''), value]),
    ) as RateLimits,
  }
}

/** The database of the administration commands: the one that `serve` would use. */
export function readDatabase(
  env: Record<string, string | undefined>,
  { development }: RunMode,
): Pick<ConnectOptions, 'transactionPooler'> & { databaseUrl: string } {
  const { default: fallback } = settings.DATABASE_URL
  return {
    databaseUrl: env.DATABASE_URL || (development ? fallback.development : fallback.production),
    transactionPooler: env.DATABASE_POOLER === 'transaction',
  }
}

/** The address under which clients reach a service that listens on the port. */
export function publicUrlAt({ publicUrl }: Pick<Config, 'publicUrl'>, port: number): string {
  return publicUrl ?? `http://localhost:${port}`
}

/** The address that `serve` would have in the same place, without a trailing slash. */
export function readPublicUrl(env: Record<string, string | undefined>, { development }: RunMode): string {
  const fallback = `http://localhost:${env.PORT || settings.PORT.default}`
  try {
    if (env.PUBLIC_URL || development) return settings.PUBLIC_URL.parse(env.PUBLIC_URL || fallback)
  } catch (error) {
    throw new ConfigurationError([`PUBLIC_URL: ${(error as Error).message}`])
  }
  throw new ConfigurationError(missingInProduction(env).filter((line) => line.startsWith('PUBLIC_URL')))
}

/** A faulty setting gets its default, and `faults` says so. */
function readSettings(
  env: Record<string, string | undefined>,
  development: boolean,
  faults: string[],
): Settings {
  const read = ([name, setting]: [string, Setting<unknown>]) => {
    const fallback = isByEnvironment(setting.default)
      ? setting.default[development ? 'development' : 'production']
      : setting.default
    try {
      return [name, env[name] ? setting.parse(oneLine(env[name])) : fallback]
    } catch (error) {
      faults.push(`${name}: ${(error as Error).message}`)
      return [name, fallback]
    }
  }
  return Object.fromEntries(Object.entries(settings).map(read)) as Settings
}

function camelCased(values: [name: string, value: unknown][]): Record<string, unknown> {
  const inCamelCase = (name: string) =>
    name.toLowerCase().replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase())
  return Object.fromEntries(values.map(([name, value]) => [inCamelCase(name), value]))
}

function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}

/** A setting that is given but faulty has been reported already. */
function missingInProduction(env: Record<string, string | undefined>): string[] {
  const missing: string[] = []
  if (!env.PUBLIC_URL) missing.push('PUBLIC_URL: required in production, such as https://orders.example.com')
  if (!/[^\s,]/.test(env.SIGNING_KEY_FILES ?? '')) {
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
