import { Agent } from 'node:http'
import { Agent as SecureAgent } from 'node:https'
import {
  createRemoteJWKSet,
  type JWTPayload,
  errors as joseErrors,
  customFetch as joseFetch,
  jwtVerify,
} from 'jose'
import * as client from 'openid-client'
import type { Challenge } from '../../../caller/touch.ts'
import { type Clock, clockDifferenceMilliseconds, systemClock } from '../../../clock.ts'
import { type Exchange, exchange } from '../../../exchange.ts'
import { newSecret, sha256 } from '../../../ids.ts'
import { type Resolve, whyUnreachable } from '../../../names.ts'
import { type CompanySettings, isLoopbackHost } from '../../../setting.ts'
import type { Attempt, CompanyPurpose } from './attempt.ts'
import { type Claims, type CompanyIdentity, identityOf, isName, missingClaims } from './claims.ts'
import { CompanyFailure } from './failure.ts'

/** Signatures with a key that the provider publishes. HMACs and `none` are not among them. */
const algorithms = [
  'RS256',
  'PS256',
  'ES256',
  'EdDSA',
  'Ed25519',
  'RS384',
  'RS512',
  'PS384',
  'PS512',
  'ES384',
  'ES512',
]

const answerLimitMilliseconds = 5_000
const answerLimitBytes = 512 * 1024
/** For what follows at once: the user info, another sign-in. Providers keep connections longer. */
const idleConnectionMilliseconds = 1_000
/** A provider changes its addresses rarely. Older ones serve on while they are read again. */
const metadataLifetimeMilliseconds = 3_600_000
/** A provider that has not answered for so long is waited for. */
const metadataLimitMilliseconds = 24 * 3_600_000
/** Between two tries to read metadata while older ones serve. */
const metadataPauseMilliseconds = 60_000
/** An unknown key is looked for at most this often: anybody can send a logout token that names one. */
const keysCooldownMilliseconds = 1_000
const clockDifferenceSeconds = clockDifferenceMilliseconds / 1000

const logoutEvent = 'http://schemas.openid.net/event/backchannel-logout'
const logoutTokenLifetimeSeconds = 300

/** The parts of an attempt that are made with the way to the provider. */
export type Begun = Pick<Attempt, 'state' | 'nonce' | 'verifier'> & { url: string }

/** Sessions that have ended at the provider. */
export interface CompanyLogout {
  issuer: string
  subject: string | null
  sid: string | null
  /** Makes the token work once. */
  challenge: Challenge
}

interface Parts {
  settings: CompanySettings
  resolve: Resolve
  clock: Clock
}

interface Provider {
  metadata: client.ServerMetadata
  keys: ReturnType<typeof createRemoteJWKSet>
  readAt: number
  /** Making one copies the metadata, so it is kept while the two clocks differ by this number of seconds. */
  configured?: { clockSkew: number; configuration: client.Configuration }
}

/**
 * The provider of company accounts (OpenID Connect Core 1.0, by `openid-client`). Nothing of its tokens is
 * stored, and only a callback, a logout and `oidc check` wait for it. Throws `CompanyFailure`.
 */
export class CompanyProvider {
  readonly #parts: Parts
  readonly #fetch: (url: string, options: RequestInit) => Promise<Response>
  #provider: Provider | undefined
  #triedAt = 0
  #reading: Promise<Provider> | undefined

  constructor(parts: Parts) {
    this.#parts = parts
    const { resolve } = parts
    const kept = { keepAlive: true, timeout: idleConnectionMilliseconds }
    const [plain, secure] = [new Agent(kept), new SecureAgent(kept)]
    this.#fetch = (url, options) => {
      const signal = AbortSignal.timeout(answerLimitMilliseconds)
      const way = { resolve, agent: url.startsWith('https:') ? secure : plain, signal }
      return boundedFetch(new URL(url), options, way).catch((cause) => {
        if (!signal.aborted) throw cause
        throw new CompanyFailure('company-account-unreachable', 'it did not answer in time', { cause })
      })
    }
  }

  /** The address to which a browser is sent. To confirm, the provider must ask for a credential again. */
  async begin(purpose: CompanyPurpose, redirectUri: string): Promise<Begun> {
    const configuration = this.#configurationOf(await this.#current())
    const [state, nonce, verifier] = [newSecret(), newSecret(), newSecret()]
    const parameters = {
      redirect_uri: redirectUri,
      scope: this.#parts.settings.scopes,
      code_challenge: sha256(verifier),
      code_challenge_method: 'S256',
      state,
      nonce,
      ...(purpose === 'confirmation' && { max_age: '0', prompt: 'login' }),
    }
    const url = client.buildAuthorizationUrl(configuration, parameters).href
    return { url, state, nonce, verifier }
  }

  /**
   * The company account of a callback. Checks `state`, `iss` (RFC 9207), the code with the verifier, and the
   * ID token with its signature, `iss`, `aud`, `azp`, `nonce` and times (OpenID Connect Core 1.0 §3.1.3.7).
   */
  async finish(callback: URL, { state, nonce, verifier }: Attempt): Promise<CompanyIdentity> {
    const { settings, clock } = this.#parts
    const provider = await this.#current()
    const configuration = this.#configurationOf(provider)
    try {
      const tokens = await client.authorizationCodeGrant(configuration, callback, {
        pkceCodeVerifier: verifier,
        expectedState: state,
        expectedNonce: nonce,
        idTokenExpected: true,
      })
      const idToken = await this.#verify(tokens.id_token ?? '')
      const claims: Claims = { ...idToken }
      const missing = missingClaims(claims, settings)
      if (missing.length > 0 && provider.metadata.userinfo_endpoint) {
        const subject = String(idToken.sub)
        const more: Claims = await client.fetchUserInfo(configuration, tokens.access_token, subject)
        for (const name of missing) claims[name] = more[name]
      }
      return identityOf(claims, settings, clock())
    } catch (error) {
      throw failureOf(error)
    }
  }

  /** Reads a logout token (OpenID Connect Back-Channel Logout 1.0 §2.6). */
  async readLogout(token: string): Promise<CompanyLogout> {
    const { settings, clock } = this.#parts
    const { iat = 0, jti, sub, sid, ...claims } = await this.#verify(token)
    const events = claims.events as Record<string, unknown> | undefined
    const isLogout =
      typeof events === 'object' && typeof events?.[logoutEvent] === 'object' && !('nonce' in claims)
    const age = clock() / 1000 - iat
    const names = typeof jti === 'string' && jti !== '' && isName(sub ?? sid)
    if (!isLogout || !names || age > logoutTokenLifetimeSeconds + clockDifferenceSeconds) {
      throw new CompanyFailure('logout-token-invalid', 'it is no logout token, or an old one')
    }
    // After that it is too old, whatever its `exp` says.
    const ends = Math.ceil(iat + logoutTokenLifetimeSeconds) * 1000 + 2 * clockDifferenceMilliseconds
    return {
      issuer: settings.issuer,
      subject: sub ?? null,
      sid: isName(sid) ? sid : null,
      challenge: { nonce: sha256(`logout ${settings.issuer} ${jti}`), expiresAt: ends },
    }
  }

  /**
   * The metadata and the number of keys, once the provider has accepted the secret of the client: it must
   * refuse a code that it never gave, and nothing else.
   */
  async look(redirectUri: string): Promise<{ metadata: client.ServerMetadata; keys: number }> {
    const provider = await this.#read()
    const { metadata } = provider
    const parameters = { code: 'of-no-use', redirect_uri: redirectUri, code_verifier: 'x'.repeat(43) }
    const failure: unknown = await client
      .genericGrantRequest(this.#configurationOf(provider), 'authorization_code', parameters)
      .then(() => new Error('it accepted a code that it never gave'))
      .catch((error: unknown) => error)
    const isExpected = (failure as { error?: string }).error === 'invalid_grant'
    if (failure instanceof client.WWWAuthenticateChallengeError) {
      throw new CompanyFailure('company-answer-invalid', 'it does not accept the client, or its secret')
    }
    if (!isExpected) throw failureOf(failure)
    const keys = await this.#fetch(String(metadata.jwks_uri), {})
      .then(async (response) => ((await response.json()) as { keys?: unknown } | null)?.keys)
      .catch((error) => {
        throw failureOf(error)
      })
    if (!Array.isArray(keys)) throw new CompanyFailure('company-answer-invalid', 'it publishes no keys')
    return { metadata, keys: keys.length }
  }

  async #verify(token: string): Promise<JWTPayload> {
    const { settings, clock } = this.#parts
    const { keys } = await this.#current()
    const { payload } = await jwtVerify(token, keys, {
      algorithms,
      issuer: settings.issuer,
      audience: settings.clientId,
      currentDate: new Date(clock()),
      clockTolerance: clockDifferenceSeconds,
      requiredClaims: ['iat'],
    })
    const { azp, aud, iat = 0 } = payload
    if (azp !== undefined && azp !== settings.clientId) {
      throw new CompanyFailure('company-answer-invalid', 'the token is for another client (azp)')
    }
    if (Array.isArray(aud) && aud.length > 1 && azp === undefined) {
      throw new CompanyFailure('company-answer-invalid', 'the token is for several clients (aud)')
    }
    if (iat * 1000 > clock() + clockDifferenceMilliseconds) {
      throw new CompanyFailure('company-answer-invalid', 'the clocks differ: the token is of the future')
    }
    return payload
  }

  /** With the clock of the service, which a test may move. */
  #configurationOf(provider: Provider): client.Configuration {
    const { settings, clock } = this.#parts
    const clockSkew = Math.round((clock() - systemClock()) / 1000)
    if (provider.configured?.clockSkew === clockSkew) return provider.configured.configuration
    const { metadata } = provider
    const { clientId, clientSecret } = settings
    const methods = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
    const authentication = [methods].flat().includes('client_secret_basic')
      ? basicOf(clientSecret)
      : client.ClientSecretPost(clientSecret)
    const clientMetadata = {
      [client.clockSkew]: clockSkew,
      [client.clockTolerance]: clockDifferenceSeconds,
    }
    const configuration = new client.Configuration(metadata, clientId, clientMetadata, authentication)
    if (isPlainHttp(settings.issuer)) client.allowInsecureRequests(configuration)
    configuration[client.customFetch] = this.#fetch as never
    provider.configured = { clockSkew, configuration }
    return configuration
  }

  /**
   * As read in the last hour, or, for a day, while they are read again. So nobody waits for a provider that
   * is slow or away, and nobody asks it more than once a minute.
   */
  async #current(): Promise<Provider> {
    const known = this.#provider
    const now = this.#parts.clock()
    // An instant that is ahead is of a clock that was wrong.
    const ago = (at: number) => (now < at ? Number.POSITIVE_INFINITY : now - at)
    const serves = known !== undefined && now - known.readAt < metadataLimitMilliseconds
    const isDue =
      ago(known?.readAt ?? 0) >= metadataLifetimeMilliseconds &&
      ago(this.#triedAt) >= metadataPauseMilliseconds
    if (serves && !isDue) return known
    if (this.#reading === undefined) {
      this.#triedAt = now
      this.#reading = this.#read().finally(() => {
        this.#reading = undefined
      })
    }
    if (!serves) return this.#reading
    this.#reading.catch(() => undefined)
    return known
  }

  async #read(): Promise<Provider> {
    const { settings, clock } = this.#parts
    try {
      const configuration = await client.discovery(
        new URL(settings.issuer),
        settings.clientId,
        undefined,
        undefined,
        {
          [client.customFetch]: this.#fetch as never,
          execute: isPlainHttp(settings.issuer) ? [client.allowInsecureRequests] : [],
        },
      )
      const { supportsPKCE: _, ...metadata } = configuration.serverMetadata()
      if (metadata.issuer !== settings.issuer) throw calledOtherwise(metadata.issuer)
      for (const name of ['authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const) {
        if (isUsable(metadata[name])) continue
        throw new CompanyFailure('company-answer-invalid', `its ${name} is no https address`)
      }
      const keys = createRemoteJWKSet(new URL(String(metadata.jwks_uri)), {
        [joseFetch]: this.#fetch as never,
        cooldownDuration: keysCooldownMilliseconds,
      })
      this.#provider = { metadata, keys, readAt: clock() }
      return this.#provider
    } catch (error) {
      throw failureOf(error)
    }
  }
}

/**
 * RFC 6749 §2.3.1. That of the library also encodes `-`, `_` and `.`, which a form leaves as they are: some
 * providers decode nothing, and would see another secret.
 */
const basicOf =
  (secret: string): client.ClientAuth =>
  (_provider, { client_id }, _body, headers) => {
    const pair = `${new URLSearchParams([[client_id, secret]])}`.replace('=', ':')
    headers.set('authorization', `Basic ${Buffer.from(pair).toString('base64')}`)
  }

const calledOtherwise = (issuer: unknown) =>
  new CompanyFailure('company-answer-invalid', `the provider calls itself ${issuer}`)

const isPlainHttp = (address: string) => {
  const url = URL.parse(address)
  return url?.protocol === 'http:' && isLoopbackHost(url.hostname)
}

const isUsable = (address: unknown) =>
  typeof address === 'string' && (URL.parse(address)?.protocol === 'https:' || isPlainHttp(address))

/** Asks the provider, in bounded time, for an answer of bounded length. Follows no redirect. */
async function boundedFetch(
  url: URL,
  options: RequestInit,
  way: Pick<Exchange, 'resolve' | 'agent' | 'signal'>,
): Promise<Response> {
  const answer = await exchange(url, {
    method: options.method ?? 'GET',
    ...(options.body && { body: String(options.body) }),
    headers: Object.fromEntries(new Headers(options.headers)),
    ...way,
  })
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of answer) {
    length += chunk.length
    if (length > answerLimitBytes) {
      answer.destroy()
      throw new Error(`it sent more than ${answerLimitBytes} bytes`)
    }
    chunks.push(chunk)
  }
  const headers = new Headers()
  for (const name of ['content-type', 'www-authenticate']) {
    const value = answer.headers[name]
    if (typeof value === 'string') headers.set(name, value)
  }
  const status = answer.statusCode ?? 0
  if (status >= 500)
    throw new CompanyFailure('company-account-unreachable', `it answered with status ${status}`)
  const isBare = status === 204 || status === 205 || status === 304
  return new Response(isBare ? null : Buffer.concat(chunks), { status, headers })
}

/** Errors of a connection have a code of the system. Others are of an answer. */
function failureOf(error: unknown): CompanyFailure {
  const causes: (Error & { code?: string; error?: string })[] = []
  let cause = error
  for (; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof CompanyFailure) return cause
    causes.push(cause)
  }
  // An answer of a kind that was not expected.
  const status = cause instanceof Response ? cause.status : 0
  const other = cause as { attribute?: string; body?: { issuer?: unknown } } | undefined
  if (other?.attribute === 'issuer') return calledOtherwise(other.body?.issuer)
  const denied = causes.find(({ code }) => code === 'OAUTH_AUTHORIZATION_RESPONSE_ERROR')
  if (denied !== undefined) {
    return new CompanyFailure('company-account-refused', `the provider answered ${codeOf(denied)}`, {
      cause: error,
    })
  }
  const last = causes.at(-1)
  const lost = causes.find(({ code = '' }) => /^E[A-Z]+$/.test(code))
  if (lost !== undefined) {
    const why = whyUnreachable(last ?? lost)
    return new CompanyFailure('company-account-unreachable', why, { cause: error })
  }
  if (status >= 300) {
    return new CompanyFailure('company-answer-invalid', answeredWith(status), { cause: error })
  }
  if (last instanceof joseErrors.JOSEAlgNotAllowed) {
    const why = 'no published key signs its tokens: have it sign with RS256'
    return new CompanyFailure('company-answer-invalid', why, { cause: error })
  }
  // Errors of syntax quote the text, which may hold a token.
  const told = causes.filter(({ name }) => name !== 'SyntaxError')
  const why = told.map((each) => each.message + (each.error === undefined ? '' : ` (${codeOf(each)})`))
  return new CompanyFailure('company-answer-invalid', why.join(': ') || 'it is no JSON', { cause: error })
}

const answeredWith = (status: number) => `it answered with status ${status}`

/** The code of an error of OAuth. A browser may bring another text, even a name. */
const codeOf = ({ error = '' }: { error?: string }) => (/^\w{1,64}$/.test(error) ? error : 'an unknown error')
