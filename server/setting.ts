import { existsSync, readFileSync } from 'node:fs'
import { BlockList, isIP } from 'node:net'
import { join } from 'node:path'
import { parseTimeZone } from './clock.ts'
import { program } from './version.ts'

/** The same in both environments, or one value for each. */
export type Default<T> = T | { development: T; production: T }

export interface Setting<T> {
  description: string
  /** The value of an absent setting. Undefined and an empty list mean none. */
  default: Default<T>
  /** For the reference page, if the default is not a value. */
  defaultText?: string
  /** Throws an Error whose message is the rule that `text` broke. */
  parse(text: string): T
}

export function number<D extends number | undefined>(
  [minimum, maximum]: readonly [number, number],
  fallback: Default<D>,
  description: string,
  { pattern, kind } = { pattern: /^\d{1,15}$/, kind: 'whole number' },
): Setting<number | D> {
  return {
    description: `${description} (${minimum} to ${maximum})`,
    default: fallback,
    parse(text) {
      const value = pattern.test(text) ? Number(text) : Number.NaN
      if (value >= minimum && value <= maximum) return value
      throw new Error(`must be a ${kind} from ${minimum} to ${maximum}`)
    },
  }
}

export const decimal = { pattern: /^\d{1,9}(\.\d{1,6})?$/, kind: 'number' }

export function list(description: string, check: (item: string) => string): Setting<string[]> {
  return {
    description: `${description} (comma-separated)`,
    default: [],
    parse: (value) =>
      value
        .split(',')
        .map((item) => item.trim())
        .filter((item) => item !== '')
        .map(check),
  }
}

/** The first is the default. */
export function oneOf<const T extends string>(values: readonly [T, ...T[]], description: string): Setting<T> {
  return {
    description: `${description}: ${values.map((value) => `\`${value}\``).join(', ')}`,
    default: values[0],
    parse(value) {
      const found = values.find((candidate) => candidate === value)
      if (found === undefined) throw new Error(`must be one of ${values.join(', ')}`)
      return found
    },
  }
}

/**
 * Refuses values that are no setting, such as a file's content instead of its name, without repeating them.
 */
export function oneLine(value: string): string {
  if (/\p{Cc}/u.test(value.trim())) throw new Error('must be one line, without control characters')
  return value
}

/** A folder that has a page. */
export function parseWebDir(folder: string): string {
  if (existsSync(join(oneLine(folder), 'index.html'))) return folder
  throw new Error('must be a folder with a file index.html')
}

/** Of printable ASCII, because it is a header, and with at least one directive. */
export function parsePolicy(value: string): string {
  if (!/^[a-z-]+ [\x20-\x7e]+$/.test(value)) {
    throw new Error("must be directives such as default-src 'self'; style-src 'self' 'unsafe-inline'")
  }
  return value
}

export const asGiven = (value: string) => value

const socketPrefix = 'unix:'
/** Systems allow little more than a hundred bytes. */
const socketPathBytes = 90

/** The path in `unix:/path`; undefined for a host. */
export function socketPathOf(host: string): string | undefined {
  return host.startsWith(socketPrefix) ? host.slice(socketPrefix.length) : undefined
}

export function hostName(value: string): string {
  const path = socketPathOf(value)
  if (path !== undefined) {
    if (path.startsWith('/') && Buffer.byteLength(path) <= socketPathBytes) return value
    throw new Error(`must have an absolute path of at most ${socketPathBytes} bytes behind unix:`)
  }
  if (!/^[\w.:%-]{1,253}$/.test(value)) throw new Error('must be an address or a name of this machine')
  return value
}

/** An http or https origin without path. */
export function parseOrigin(value: string): string {
  const url = URL.parse(value)
  const isBare = url !== null && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`
  if (isBare) return url.origin
  throw new Error('must be an http or https origin without path, such as https://orders.example.com')
}

export function parsePublicUrl(value: string): string {
  const origin = parseOrigin(value)
  const { protocol, hostname } = new URL(origin)
  if (protocol === 'http:' && !isLoopbackHost(hostname)) {
    throw new Error('must be https: browsers keep the session cookie only on a secure origin')
  }
  return origin
}

/** Whether a URL's hostname is a name or address by which a machine reaches itself. */
export function isLoopbackHost(hostname: string): boolean {
  return (
    hostname === 'localhost' ||
    hostname.endsWith('.localhost') ||
    hostname === '[::1]' ||
    /^127(\.\d{1,3}){3}$/.test(hostname)
  )
}

/**
 * The address of somebody else's program, which the service asks; undefined unless it is safe. Over plain
 * http, anyone on the way could answer.
 */
export function safeAddress(value: string): string | undefined {
  const url = URL.canParse(value) ? new URL(value) : undefined
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopbackHost(url.hostname))
  if (url === undefined || !isSafe) return undefined
  return url.search + url.hash + url.username + url.password === '' ? url.href : undefined
}

/** As the provider spells it: issuers are compared as text (OpenID Connect Discovery 1.0 §4.3). */
export function parseIssuer(value: string): string {
  if (safeAddress(value) !== undefined) return value
  throw new Error('must be an https address, such as https://login.example.com/realms/company')
}

/** RFC 6749 §3.3. */
export function parseScopes(value: string): string {
  const scopes = value.split(' ')
  if (scopes.includes('openid') && scopes.every((scope) => /^[!#-[\]-~]+$/.test(scope))) return value
  throw new Error('must be openid and other scopes, separated by spaces, such as openid profile email groups')
}

/** The roles that follow a claim of the company account. */
export interface ClaimRoles {
  claim: string
  /** Role by value of the claim; several values may give one role. */
  roles: [value: string, role: string][]
}

export function parseClaimRoles(value: string): ClaimRoles {
  const pairs = value
    .split(';')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part): [string, string] => {
      const at = part.lastIndexOf('=')
      return [part.slice(0, Math.max(at, 0)).trim(), part.slice(at + 1).trim()]
    })
  const [[first, claim] = ['', ''], ...roles] = pairs
  if (first === 'claim' && roles.length > 0 && pairs.flat().every((text) => text !== ''))
    return { claim, roles }
  throw new Error('must be a claim and roles, such as claim=groups; finance-leads=Approver; it=Admin')
}

/** The settings `OIDC_...`, once the provider is set. */
export interface CompanySettings {
  issuer: string
  clientId: string
  clientSecret: string
  createsAccounts: boolean
  trustsEmail: boolean
  scopes: string
  roles: ClaimRoles | undefined
}

/** Where mail is handed over, and how. */
export interface SmtpServer {
  host: string
  port: number
  /** TLS from the first byte (`smtps:`), after STARTTLS (`smtp:`), or none, which only loopback may have. */
  security: 'tls' | 'starttls' | 'none'
  user: string
  password: string
}

export function parseSmtpUrl(value: string): SmtpServer {
  const url = URL.canParse(value) ? new URL(value) : undefined
  const isTls = url?.protocol === 'smtps:'
  const isBare = url !== undefined && /^\/?$/.test(url.pathname) && url.search + url.hash === ''
  if (
    !isBare ||
    !(isTls || url.protocol === 'smtp:') ||
    !/^(?:[\w.-]+|\[[\da-f:.]+\])$/i.test(url.hostname)
  ) {
    throw new Error('must be smtps://user:password@host:port or smtp://user:password@host:port')
  }
  const user = decoded(url.username)
  const password = decoded(url.password)
  if ((user === '') !== (password === '')) throw new Error('must have a user and a password, or neither')
  const host = url.hostname.toLowerCase()
  // A name below localhost could be anywhere: not every resolver keeps it on this machine.
  const isHere = isLoopbackHost(host) && !host.endsWith('.localhost')
  const security = isTls ? 'tls' : isHere ? 'none' : 'starttls'
  const port = Number(url.port) || { tls: 465, starttls: 587, none: 25 }[security]
  return { host: host.replaceAll(/^\[|\]$/g, ''), port, security, user, password }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    throw new Error('must have every % of its user and password as %25')
  }
}

/** An address to which mail can be sent. Quoted local parts and address literals are not among them. */
export const mailablePattern =
  /^[\p{L}\p{N}!#$%&'*+/=?^_`{|}~.-]{1,64}@(?:[\p{L}\p{N}-]{1,63}\.)*[\p{L}\p{N}-]{1,63}$/u

/** The sender of mail. */
export interface Sender {
  /** Empty if there is only an address. */
  name: string
  address: string
}

export function parseSender(value: string): Sender {
  const [, name = '', inBrackets] = /^([^<>]*)<([^<>]*)>$/.exec(value.trim()) ?? []
  const address = (inBrackets ?? value).trim()
  if (!mailablePattern.test(address)) {
    throw new Error('must be an address such as orders@example.com or Orders <orders@example.com>')
  }
  return { name: name.trim().replace(/^"(.*)"$/, '$1'), address }
}

export function parseAddressRange(value: string): string {
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

/** Ranges of both families. Each family has its list, because one list would compare IPv4 as mapped IPv6. */
export class AddressRanges {
  readonly #ipv4 = new BlockList()
  readonly #ipv6 = new BlockList()

  constructor(ranges: readonly string[]) {
    for (const range of ranges) {
      const [address = '', bits] = range.split('/')
      const isIpv6 = isIP(address) === 6
      const list = isIpv6 ? this.#ipv6 : this.#ipv4
      list.addSubnet(address, Number(bits ?? (isIpv6 ? 128 : 32)), isIpv6 ? 'ipv6' : 'ipv4')
    }
  }

  has(address: string): boolean {
    return isIP(address) === 6 ? this.#ipv6.check(address, 'ipv6') : this.#ipv4.check(address, 'ipv4')
  }
}

export function parseContact(value: string): string {
  const protocol = URL.canParse(value) ? new URL(value).protocol : ''
  if (['mailto:', 'https:', 'tel:'].includes(protocol) && !/\s/.test(value)) return value
  throw new Error('must hold addresses such as mailto:security@example.com or https://example.com/security')
}

/** ISO 4217, as far as the runtime knows the codes. */
export function parseCurrency(value: string): string {
  const code = value.toUpperCase()
  if (!Intl.supportedValuesOf('currency').includes(code))
    throw new Error('must be an ISO 4217 code such as EUR')
  return code
}

export function parseTimeZoneName(value: string): string {
  const zone = parseTimeZone(value)
  if (zone === undefined) throw new Error('must be an IANA time zone such as Europe/Berlin')
  return zone
}

/** `option` is what makes such a key. */
export function readKey(file: string, option: string): Buffer {
  return parseKey(readLineOfFile(file), option)
}

/** The one line of a file, without the space around it. Throws an Error that does not repeat it. */
export function readLineOfFile(file: string): string {
  let line: string
  try {
    line = readFileSync(file, 'utf8').trim()
  } catch (error) {
    throw new Error(`cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
  if (line === '') throw new Error('is empty')
  return oneLine(line)
}

export function parseAntiforgeryKey(value: string): Buffer {
  return parseKey(value, '--antiforgery')
}

function parseKey(value: string, option: string): Buffer {
  const trimmed = value.trim()
  const key = Buffer.from(trimmed, 'base64')
  if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(trimmed) || key.length < 32) {
    throw new Error(`must be at least 32 bytes in base64 (${program} key generate ${option})`)
  }
  return key
}
