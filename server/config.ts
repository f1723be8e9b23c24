import { withPassword } from './db/address.ts'
import type { ConnectOptions } from './db/open.ts'
import type { CompanySettings } from './setting.ts'
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
  parseClaimRoles,
  parseContact,
  parseCurrency,
  parseIssuer,
  parseOrigin,
  parsePolicy,
  parsePublicUrl,
  parseScopes,
  parseSender,
  parseSmtpUrl,
  parseTimeZoneName,
  parseWebDir,
  readKey,
  readLineOfFile,
  type Setting,
  socketPathOf,
} from './setting.ts'
import { program } from './version.ts'

/** Lists all faults of the configuration, one line each, without secrets. */
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

/**
 * Every setting once, with its unit, bounds, default and meaning. docs/configuration.md is generated from it.
 */
export const settings = {
  HOST: {
    description:
      'Address to listen on, or `unix:/path` for a socket in the file system, whose peer counts as a trusted proxy',
    default: { development: '127.0.0.1', production: '0.0.0.0' },
    parse: hostName,
  },
  PORT: number([0, 65_535], 8080, 'Port to listen on; 0 picks a free one and prints it'),
  PUBLIC_URL: {
    description:
      'Origin at which clients reach the service: token issuer and audience, metadata, problem types, origin checks. ' +
      'Must be https, except on loopback',
    default: undefined,
    defaultText: '`http://localhost:<port>` in development; required in production',
    parse: parsePublicUrl,
  },
  DATABASE_URL: {
    description:
      '`file:PATH` is embedded SQLite, `postgres://user:password@host:port/database` is PostgreSQL, ' +
      '`postgres:///database?host=/folder&user=name` is PostgreSQL through a socket',
    default: {
      development: 'file:./data/development.db',
      production: 'file:./data/countersign.db',
    },
    parse: asGiven,
  },
  DATABASE_PASSWORD_FILE: {
    description: 'PostgreSQL: file that holds the password, if `DATABASE_URL` leaves it out',
    default: undefined,
    parse: (file) => ({ file, password: readLineOfFile(file) }),
  },
  DATABASE_POOL_SIZE: number([1, 200], 10, 'PostgreSQL: connections per instance for transactions'),
  DATABASE_POOLER: oneOf(
    ['none', 'transaction'],
    'PostgreSQL: whether a pooler hands out connections by transaction (PgBouncer, RDS Proxy)',
  ),
  DATABASE_START_TIMEOUT_SECONDS: number(
    [0, 3_600],
    60,
    'PostgreSQL: how long to wait at start for a server that does not answer, in seconds',
  ),
  DATABASE_PLACE_CHECK: oneOf(
    ['on', 'off'],
    'SQLite: whether production refuses, and development reports, a file where acknowledged writes can get lost: ' +
      'one that is mounted without its folder, or on a file system of a network or FUSE (Linux)',
  ),
  SIGNING_KEY_FILES: list(
    'PEM files with RSA private keys of 2048 bits or more. The first signs; all verify and are published',
    asGiven,
  ),
  LOG_KEY_FILES: list(
    'PEM files with Ed25519 private keys. Each signs the checkpoints of the log, and is published',
    asGiven,
  ),
  LOG_WITNESSES: list(
    'Witnesses of the log (c2sp.org/tlog-witness), each as its verifier key, a space, and its address: ' +
      '`witness.example.com+211cc052+BBZe... https://witness.example.com`',
    asGiven,
  ),
  LOG_WITNESS_QUORUM: {
    ...number([1, 64], undefined, 'How many witnesses must cosign a checkpoint'),
    defaultText: 'more than half of the witnesses',
  },
  LOG_WITNESS_SECONDS: number(
    [60, 86_400],
    60,
    'The witnesses are asked at most once in this time, in seconds. They publish the size of the log, which shows how busy the service is (docs/auditing.md)',
  ),
  ANTIFORGERY_KEY: {
    description:
      'Key of antiforgery tokens, of the tags of refresh tokens, and of hashes of names in the database, at least 32 bytes in base64. Every instance needs the same',
    default: undefined,
    defaultText:
      'generated at each start in development; this or `ANTIFORGERY_KEY_FILE` is required in production',
    parse: parseAntiforgeryKey,
  },
  ANTIFORGERY_KEY_FILE: {
    description: 'File that holds the antiforgery key',
    default: undefined,
    parse: (file) => ({ file, key: readKey(file, '--antiforgery') }),
  },
  WEBHOOK_KEY_FILE: {
    description:
      'File that holds the key of webhooks, at least 32 bytes in base64. Their secrets are derived from it, so every ' +
      'instance needs the same, and another key changes all secrets',
    default: undefined,
    defaultText: 'generated at each start in development; required in production once there is a webhook',
    parse: (file) => ({ file, key: readKey(file, '--webhook') }),
  },
  WEBHOOK_NETWORKS: list(
    'Private addresses or CIDR ranges to which webhooks may be sent too, also by plain http',
    parseAddressRange,
  ),
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
    'How long role permissions and accounts are cached, in seconds',
  ),
  DOCUMENT_BYTES_PER_HOUR: number(
    [5_242_880, 1e12],
    314_572_800,
    'Bytes of documents that a caller may send in an hour',
  ),
  RATE_LIMIT_FACTOR: number(
    [0, 1_000_000],
    { development: 10, production: 1 },
    'Multiplies every request limit; 0 turns them off (waits after failed sign-ins stay)',
    decimal,
  ),
  RATE_LIMIT_ANONYMOUS: number(perMinute, 300, 'Requests a minute without a valid credential, per address'),
  RATE_LIMIT_STATIC: number(perMinute, 3_000, 'Static files a minute, per address'),
  RATE_LIMIT_EXCHANGE: number(perMinute, 60, 'Credential exchanges a minute, per address'),
  RATE_LIMIT_REFRESH: number(perMinute, 60, 'Refreshes a minute, per session or token family'),
  RATE_LIMIT_REFRESH_ADDRESS: number(perMinute, 600, 'Refreshes a minute, per address'),
  RATE_LIMIT_READ: number(perMinute, 1_200, 'Reads a minute, per caller'),
  RATE_LIMIT_WRITE: number(perMinute, 1200, 'Writes a minute, per caller'),
  TRUSTED_PROXIES: list(
    'Addresses or CIDR ranges of proxies whose X-Forwarded-For is trusted',
    parseAddressRange,
  ),
  CORS_ORIGINS: list('Origins whose scripts may call the API with a bearer token', parseOrigin),
  SECURITY_CONTACT: list(
    'Contacts for reports of vulnerabilities, the preferred first: `mailto:`, `https:` or `tel:` addresses. ' +
      'Without one there is no `/.well-known/security.txt` (RFC 9116)',
    parseContact,
  ),
  DEFAULT_TIME_ZONE: {
    description: 'IANA time zone of audit stamps if neither the request nor the user has one',
    default: 'UTC',
    parse: parseTimeZoneName,
  },
  ORGANISATION_NAME: {
    description:
      'Name of the organisation, at the head of approval certificates and in mails. No receipt has it, so nothing is proven by it',
    default: undefined,
    parse: oneLine,
  },
  CURRENCY: {
    description:
      'Currency in which the web app shows totals, an ISO 4217 code such as `EUR`. Nothing else depends on it',
    default: { development: 'EUR', production: undefined },
    defaultText: '`EUR` in development, otherwise none',
    parse: parseCurrency,
  },
  SMTP_URL: {
    description:
      'Server that takes mail: `smtps://user:password@host:465`, or `smtp://user:password@host:587`, which must offer ' +
      'STARTTLS. Only a server on loopback may do without. Without this setting no mail is sent',
    default: undefined,
    parse: parseSmtpUrl,
  },
  MAIL_FROM: {
    description: 'Sender of mail: `orders@example.com` or `Orders <orders@example.com>`',
    default: undefined,
    defaultText: 'none; required with `SMTP_URL`',
    parse: parseSender,
  },
  OIDC_ISSUER: {
    description:
      'Issuer of the company account (OpenID Connect), such as `https://login.example.com/realms/company`; must be ' +
      'https, except on loopback. People can then sign in with it too ([docs/company-account.md](company-account.md))',
    default: undefined,
    parse: parseIssuer,
  },
  OIDC_CLIENT_ID: {
    description: 'Client id of this service at that provider',
    default: undefined,
    defaultText: 'none; required with `OIDC_ISSUER`',
    parse: oneLine,
  },
  OIDC_CLIENT_SECRET_FILE: {
    description: 'File that holds the secret of that client',
    default: undefined,
    defaultText: 'none; required with `OIDC_ISSUER`',
    parse: (file) => ({ file, secret: readLineOfFile(file) }),
  },
  OIDC_SCOPES: {
    description:
      'Scopes that are asked of the provider, `openid` among them. Some providers send groups only for one more: ' +
      '`openid profile email groups`',
    default: 'openid profile email',
    parse: parseScopes,
  },
  OIDC_NAME: {
    description: 'Name of the company account on the buttons of the web app',
    default: 'company account',
    parse: oneLine,
  },
  OIDC_NEW_ACCOUNTS: oneOf(
    ['refuse', 'create'],
    'Whether the first sign-in of an unknown company account makes an account, without roles',
  ),
  OIDC_TRUST_EMAIL: oneOf(
    ['false', 'true'],
    'Whether a new account may have an email that the provider does not call verified. One that it calls unverified is ' +
      'never used',
  ),
  OIDC_ROLES: {
    description:
      'Roles that follow a claim of the company account: `claim=groups; finance-leads=Approver; it=Admin`, in quotes ' +
      'in a file that a shell reads. On linked accounts nobody can grant or revoke them here',
    default: undefined,
    parse: parseClaimRoles,
  },
  WEB_DIR: {
    description:
      'Folder of another single-page app, served in the place of the one that is built in ([docs/own-app.md](own-app.md))',
    default: undefined,
    defaultText: 'the app that is built in',
    parse: parseWebDir,
  },
  WEB_CSP: {
    description:
      'Content-Security-Policy of its pages. The inline scripts and styles of its index.html are added by their hashes',
    default: undefined,
    defaultText: 'that of the app that is built in; needs `WEB_DIR`',
    parse: parsePolicy,
  },
  LOG_LEVEL: oneOf(
    ['info', 'trace', 'debug', 'warn', 'error', 'fatal', 'silent'],
    'Lowest level that is logged',
  ),
  DRAIN_SECONDS: number(
    [0, 600],
    { development: 0, production: 0.5 },
    'How long the service still serves after a signal to end, not ready, before it stops listening, in seconds',
    decimal,
  ),
  KEEP_ALIVE_SECONDS: number(
    [1, 3_600],
    75,
    'How long an idle connection is kept, in seconds: longer than the balancer in front keeps it',
  ),
  METRICS_PORT: number(
    [1, 65_535],
    undefined,
    'Port of the Prometheus metrics, on a separate listener at HOST',
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
  ? T | (undefined extends (D extends { production: infer P } ? P : D) ? undefined : never)
  : never
type Settings = { [Name in keyof typeof settings]: ValueOf<(typeof settings)[Name]> }

/** From `ACCESS_TOKEN_TTL_SECONDS` to `accessTokenTtlSeconds`. */
type CamelCase<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${Lowercase<First>}${Capitalize<CamelCase<Rest>>}`
  : Lowercase<Name>

/** Requests a minute. A factor of 0 turns all limits off. */
export type RateLimits = {
  [Name in keyof Settings as Name extends `RATE_LIMIT_${infer Rest}` ? CamelCase<Rest> : never]: number
}

type Gathered = `RATE_LIMIT_${string}` | `DATABASE_${string}` | `ANTIFORGERY_${string}`
const gathered = /^(?:RATE_LIMIT|DATABASE|ANTIFORGERY)_/

/** Every setting under its name in camel case, except those that are gathered in one member. */
export type Config = {
  [Name in keyof Settings as Name extends Gathered ? never : CamelCase<Name>]: Settings[Name]
} & {
  development: boolean
  /** Development only: listen beyond loopback and answer foreign Host headers. */
  allowRemoteDemo: boolean
  database: ConnectOptions
  databasePasswordFile: string | undefined
  antiforgeryKey: Buffer | undefined
  antiforgeryKeyFile: string | undefined
  rateLimits: RateLimits
}

export interface RunMode {
  development: boolean
  allowRemoteDemo?: boolean
}

/**
 * Reads every setting. An empty value counts as absent. Throws `ConfigurationError` with all faults.
 * Production fails closed: it requires what development generates at each start (section 12 of the contract).
 * In development PUBLIC_URL is undefined, because it depends on the port.
 */
export function readConfig(env: Record<string, string | undefined>, mode: RunMode): Config {
  const { development, allowRemoteDemo = false } = mode
  const faults: string[] = []
  const values = readSettings(env, development, faults)
  const database = databaseOf(values, faults)
  const atUnsafePlace = values.DATABASE_PLACE_CHECK === 'off' ? 'accept' : development ? 'warn' : 'refuse'
  if (!development) faults.push(...missingInProduction(env))
  if (values.SMTP_URL && !env.MAIL_FROM) faults.push('MAIL_FROM: required with SMTP_URL')
  faults.push(...missingOfCompany(env, values))
  if (values.WEB_CSP && !env.WEB_DIR) faults.push('WEB_CSP: needs WEB_DIR')
  const isSocket = socketPathOf(values.HOST) !== undefined
  if (isSocket && development && !env.PUBLIC_URL) faults.push('PUBLIC_URL: required with HOST=unix:')
  if (development && !allowRemoteDemo && !isSocket && !isLoopbackHost(bracketed(values.HOST))) {
    faults.push(
      'HOST: development listens on loopback only, because its accounts are public (--allow-remote-demo lifts this)',
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
    database: { ...database, atUnsafePlace },
    databasePasswordFile: values.DATABASE_PASSWORD_FILE?.file,
    antiforgeryKey: values.ANTIFORGERY_KEY ?? values.ANTIFORGERY_KEY_FILE?.key,
    antiforgeryKeyFile: values.ANTIFORGERY_KEY_FILE?.file,
    rateLimits: camelCased(
      limits.map(([name, value]) => [name.replace('RATE_LIMIT_', ''), value]),
    ) as RateLimits,
  }
}

/** For commands, with no other setting. Undefined unless a provider of company accounts is set. */
export function readCompany(
  env: Record<string, string | undefined>,
  { development }: RunMode,
): CompanySettings | undefined {
  const faults: string[] = []
  const ofCompany = Object.fromEntries(Object.entries(env).filter(([name]) => name.startsWith('OIDC_')))
  const values = readSettings(ofCompany, development, faults)
  faults.push(...missingOfCompany(ofCompany, values))
  if (faults.length > 0) throw new ConfigurationError(faults)
  return companySettings(camelCased(Object.entries(values)) as unknown as Config)
}

/** Roles of linked accounts that nobody grants or revokes here. */
export function claimRolesOf({ oidcRoles }: Pick<Config, 'oidcRoles'>): string[] {
  return [...new Set((oidcRoles?.roles ?? []).map(([, role]) => role))]
}

/** Undefined unless a provider of company accounts is set. */
export function companySettings(config: Config): CompanySettings | undefined {
  const { oidcIssuer: issuer, oidcClientId: clientId, oidcClientSecretFile, oidcRoles: roles } = config
  if (issuer === undefined || clientId === undefined || oidcClientSecretFile === undefined) return undefined
  return {
    issuer,
    clientId,
    clientSecret: oidcClientSecretFile.secret,
    createsAccounts: config.oidcNewAccounts === 'create',
    trustsEmail: config.oidcTrustEmail === 'true',
    scopes: config.oidcScopes,
    roles,
  }
}

/** The administration commands use the same database as `serve`. */
export function readDatabase(
  env: Record<string, string | undefined>,
  { development }: RunMode,
): Pick<ConnectOptions, 'databaseUrl' | 'transactionPooler'> {
  const faults: string[] = []
  const ofDatabase = Object.entries(env).filter(([name]) => name.startsWith('DATABASE_'))
  const values = readSettings(Object.fromEntries(ofDatabase), development, faults)
  const { databaseUrl, transactionPooler } = databaseOf(values, faults)
  if (faults.length > 0) throw new ConfigurationError(faults)
  return { databaseUrl, transactionPooler }
}

/** Adds to `faults` a password that does not fit the address. */
function databaseOf(values: Settings, faults: string[]): ConnectOptions & { transactionPooler: boolean } {
  let databaseUrl = values.DATABASE_URL
  try {
    const { password } = values.DATABASE_PASSWORD_FILE ?? {}
    if (password !== undefined) databaseUrl = withPassword(databaseUrl, password)
  } catch (error) {
    faults.push(`DATABASE_PASSWORD_FILE: ${(error as Error).message}`)
  }
  return {
    databaseUrl,
    poolSize: values.DATABASE_POOL_SIZE,
    transactionPooler: values.DATABASE_POOLER === 'transaction',
    startTimeoutMilliseconds: values.DATABASE_START_TIMEOUT_SECONDS * 1000,
  }
}

/** The address under which clients reach a service that listens on the port. */
export function publicUrlAt({ publicUrl }: Pick<Config, 'publicUrl'>, port: number): string {
  return publicUrl ?? `http://localhost:${port}`
}

/** The address that `serve` would have with these settings, without a trailing slash. */
export function readPublicUrl(env: Record<string, string | undefined>, { development }: RunMode): string {
  const fallback = `http://localhost:${env.PORT || settings.PORT.default}`
  try {
    if (env.PUBLIC_URL || development) return settings.PUBLIC_URL.parse(env.PUBLIC_URL || fallback)
  } catch (error) {
    throw new ConfigurationError([`PUBLIC_URL: ${(error as Error).message}`])
  }
  throw new ConfigurationError(missingInProduction(env).filter((line) => line.startsWith('PUBLIC_URL')))
}

/** A faulty setting gets its default, and its fault is added to `faults`. */
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

function missingOfCompany(env: Record<string, string | undefined>, values: Settings): string[] {
  const client = ['OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET_FILE'] as const
  if (values.OIDC_ISSUER) {
    return client.filter((name) => !env[name]).map((name) => `${name}: required with OIDC_ISSUER`)
  }
  const needing = [...client, 'OIDC_ROLES'] as const
  return needing
    .filter((name) => values[name] && !env.OIDC_ISSUER)
    .map((name) => `${name}: needs OIDC_ISSUER`)
}

/** Reports absent settings only: faulty ones are reported already. */
function missingInProduction(env: Record<string, string | undefined>): string[] {
  const missing: string[] = []
  if (!env.PUBLIC_URL) missing.push('PUBLIC_URL: required in production, such as https://orders.example.com')
  if (!/[^\s,]/.test(env.SIGNING_KEY_FILES ?? '')) {
    missing.push(`SIGNING_KEY_FILES: required in production (${program} key generate makes one)`)
  }
  if (!/[^\s,]/.test(env.LOG_KEY_FILES ?? '')) {
    missing.push(`LOG_KEY_FILES: required in production (${program} key generate --log makes one)`)
  }
  if (!env.ANTIFORGERY_KEY && !env.ANTIFORGERY_KEY_FILE) {
    missing.push(
      'ANTIFORGERY_KEY or ANTIFORGERY_KEY_FILE: required in production ' +
        `(${program} key generate --antiforgery makes one)`,
    )
  }
  return missing
}
