import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import Provider, { type Configuration, type Grant, type KoaContextWithOIDC } from 'oidc-provider'
import { type Answer, Client } from './client.ts'
import { noteSecret } from './discretion.ts'
import type { Service } from './service.ts'

const clientId = 'countersign'
const clientSecret = 'a secret between the two of them'
export const callbackPath = '/v1/auth/session/company/callback'
const logoutPath = '/v1/auth/session/company/logout'

/** The secret of the client at every provider of a test, in a file. */
const folder = mkdtempSync(join(tmpdir(), 'countersign-company-'))
process.once('exit', () => rmSync(folder, { recursive: true }))
const secretFile = join(folder, 'client.secret')
writeFileSync(secretFile, clientSecret, { mode: 0o600 })
noteSecret(clientSecret)

/** The settings with which a service uses the provider. */
export const companyEnv = (issuer: string, more: Record<string, string> = {}) => ({
  OIDC_ISSUER: issuer,
  OIDC_CLIENT_ID: clientId,
  OIDC_CLIENT_SECRET_FILE: secretFile,
  ...more,
})

const newKey = () => generateKeyPair('RS256', { extractable: true })
let first: ReturnType<typeof newKey> | undefined
/** Every provider begins with the same: making one costs more than a test. */
function firstKey() {
  first ??= newKey()
  return first
}

async function listen(host = 'localhost') {
  let answer: RequestListener = (_, response) => response.writeHead(503).end()
  const server = createServer((request, response) => answer(request, response))
  await once(server.listen(0, host), 'listening')
  return {
    origin: `http://${host}:${(server.address() as AddressInfo).port}`,
    answerBy: (listener: RequestListener) => {
      answer = listener
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** The claims of a person. */
export type Account = Record<string, unknown>

interface ProviderOptions {
  /** Claims are in the ID token; else the user info has them. */
  inIdToken?: boolean
  /** 127.0.0.1 is another site than localhost, where browsers find a service. */
  host?: string
}

/** npm's `oidc-provider`, as somebody else would run it. */
export async function startProvider({ inIdToken = true, host }: ProviderOptions = {}) {
  const { origin, answerBy, close } = await listen(host)
  const accounts = new Map<string, Account>()
  let provider: Provider
  let logoutAt = ''
  let rotations = 0
  async function renew(publicUrl: string): Promise<void> {
    rotations += 1
    provider = await makeProvider({ origin, accounts, publicUrl, inIdToken, name: `key-${rotations}` })
    const callback = provider.callback()
    answerBy((request, response) => {
      if (request.url === '/to-service') return void pass(request, response, logoutAt)
      callback(request, response)
    })
  }
  await renew('https://orders.example.com')
  return {
    issuer: origin,
    accounts,
    /** From now on another key signs. Sessions at the provider end. */
    rotate: () => renew('https://orders.example.com'),
    /** For a service that people reach at another address. */
    servePublicUrl: renew,
    /** From now on it answers nothing but this status, or breaks off connections. */
    fail(status?: number) {
      answerBy((request, response) => {
        if (status === undefined) request.socket.destroy()
        else response.writeHead(status).end()
      })
    },
    /** Sends logout tokens to this service. */
    sendLogoutsTo(baseUrl: string) {
      logoutAt = baseUrl
    },
    /** Reports to the service that the account has signed out. */
    async logOut(subject: string, sid?: string): Promise<void> {
      const client = await provider.Client.find(clientId)
      const { backchannelLogout } = client as unknown as {
        backchannelLogout(sub: string, sid?: string): Promise<void>
      }
      await backchannelLogout.call(client, subject, sid)
    },
    close,
  }
}

async function pass(request: IncomingMessage, response: ServerResponse, baseUrl: string): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const answer = await fetch(baseUrl + logoutPath, { method: 'POST', headers, body: Buffer.concat(chunks) })
  response.writeHead(answer.status).end()
}

interface Made {
  origin: string
  accounts: Map<string, Account>
  publicUrl: string
  inIdToken: boolean
  name: string
}

async function makeProvider({ origin, accounts, publicUrl, inIdToken, name }: Made): Promise<Provider> {
  const { privateKey } = await (name === 'key-1' ? firstKey() : newKey())
  const jwk = { ...(await exportJWK(privateKey)), kid: name, use: 'sig', alg: 'RS256' }
  const configuration: Configuration = {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: [publicUrl + callbackPath],
        require_auth_time: true,
        backchannel_logout_uri: `${origin}/to-service`,
        backchannel_logout_session_required: true,
      },
    ],
    jwks: { keys: [jwk] } as never,
    cookies: { keys: ['a key of cookies that nobody needs to guess'] },
    claims: {
      openid: ['sub', 'groups'],
      email: ['email', 'email_verified'],
      profile: ['name', 'preferred_username'],
    },
    conformIdTokenClaims: !inIdToken,
    features: { devInteractions: { enabled: false }, backchannelLogout: { enabled: true } },
    // Its own refuses addresses of this machine.
    fetch: (url, options) => fetch(url, { ...options, dispatcher: undefined } as unknown as RequestInit),
    pkce: { required: () => true },
    interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
    findAccount: (_, sub) => ({ accountId: sub, claims: async () => ({ ...accounts.get(sub), sub }) }),
    loadExistingGrant: grantEverything,
    ttl: { Session: 3_600, Interaction: 3_600, Grant: 3_600, IdToken: 3_600, AccessToken: 3_600 },
  }
  const provider = new Provider(origin, configuration)
  provider.use(async (context, next) => {
    if (!context.path.startsWith('/interaction/')) return next()
    const accountId = context.get('x-account') || new URLSearchParams(context.querystring).get('account')
    if (!accountId) {
      context.body = '<!doctype html><form><input name="account" /><button>Sign in</button></form>'
      context.type = 'html'
      return
    }
    const result = accountId === 'nobody' ? { error: 'access_denied' } : { login: { accountId } }
    await provider.interactionFinished(context.req, context.res, result)
    context.respond = false
  })
  return provider
}

async function grantEverything(context: KoaContextWithOIDC): Promise<Grant | undefined> {
  const { client, session, provider } = context.oidc
  if (!client || !session?.accountId) return undefined
  const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId })
  grant.addOIDCScope('openid email profile')
  await grant.save()
  return grant
}

/** Walks through the pages of the provider as this person. Returns the callback: path and query. */
export async function atProvider(url: string, subject: string, browser = new Client(new URL(url).origin)) {
  browser.headers['x-account'] = subject
  let location = url
  for (let step = 0; step < 8; step += 1) {
    const { pathname, search, origin } = new URL(location, browser.baseUrl)
    if (pathname === callbackPath) return pathname + search
    assert.equal(origin, browser.baseUrl)
    const answer = await browser.get(pathname + search)
    location = answer.headers.get('location') ?? assert.fail(`${answer.status} ${answer.text}`)
  }
  return assert.fail(`the provider does not end: ${location}`)
}

/** Begins at the service; returns the address of the provider. */
export async function beginAt(browser: Client, returnTo?: string): Promise<string> {
  const query = returnTo === undefined ? '' : `?${new URLSearchParams({ returnTo })}`
  const answer = await browser.get(`/v1/auth/session/company${query}`, { 'sec-fetch-site': 'same-origin' })
  assert.equal(answer.status, 303, answer.text)
  return answer.headers.get('location') ?? assert.fail('no location')
}

/** The redirect from another site: no Strict cookie comes along. */
export async function comeBack(
  browser: Client,
  callback: string,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const redirected = new Client(browser.baseUrl)
  const attempt = browser.cookies.get('__Host-Http-company')
  if (attempt !== undefined) redirected.cookies.set('__Host-Http-company', attempt)
  const fromElsewhere = {
    'sec-fetch-site': 'cross-site',
    'sec-fetch-dest': 'document',
    'sec-fetch-mode': 'navigate',
  }
  const answer = await redirected.get(callback, { ...fromElsewhere, ...headers })
  if (!redirected.cookies.has('__Host-Http-company')) browser.cookies.delete('__Host-Http-company')
  for (const [name, value] of redirected.cookies) browser.cookies.set(name, value)
  for (const line of answer.setCookies) {
    if (/max-age=0/i.test(line)) browser.cookies.delete(line.split('=')[0] ?? '')
  }
  return answer
}

/** Why the sign-in page says that an attempt failed; null if it goes on. */
export function outcomeOf(answer: Answer): string | null {
  assert.equal(answer.status, 303, answer.text)
  const page = new URL(answer.headers.get('location') ?? '', 'https://app.invalid')
  assert.equal(page.pathname, '/sign-in')
  return page.searchParams.get('company')
}

/** Signs in by the company account. */
export async function enterAs(
  service: Pick<Service, 'client'>,
  subject: string,
  browser = service.client(),
): Promise<{ browser: Client; outcome: string | null }> {
  const callback = await atProvider(await beginAt(browser), subject)
  const outcome = outcomeOf(await comeBack(browser, callback))
  if (outcome === null) await browser.fetchAntiforgeryToken()
  return { browser, outcome }
}

/** Links the company account to that of the caller. */
export async function linkAs(browser: Client, subject: string): Promise<string | null> {
  const begun = await browser.post('/v1/auth/company')
  assert.equal(begun.status, 200, begun.text)
  return outcomeOf(await comeBack(browser, await atProvider(begun.body.url, subject)))
}

/** A provider that says whatever a test wants. */
export async function startForger() {
  const { origin, answerBy, close } = await listen()
  const { privateKey, publicKey } = await firstKey()
  const jwk = { ...(await exportJWK(publicKey)), kid: 'own', use: 'sig', alg: 'RS256' }
  const forger = {
    issuer: origin,
    privateKey,
    publicJwk: jwk,
    /** Further members of the discovery document. */
    metadata: {} as Record<string, unknown>,
    /** How a client showed itself last. */
    authorization: '' as string | undefined,
    now: () => Date.now(),
    /** Answers in its place if it returns true. */
    instead: (_request: IncomingMessage, _response: ServerResponse): boolean => false,
    /** Makes the ID token of the next exchange from the right claims. */
    idToken: (claims: JWTPayload): Promise<string> => forger.sign(claims),
    sign: (claims: JWTPayload, header: object = {}) =>
      new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'own', ...header }).sign(privateKey),
    claims(more: Record<string, unknown> = {}): JWTPayload {
      const now = Math.floor(forger.now() / 1000)
      const claims = {
        iss: origin,
        aud: clientId,
        sub: 'somebody',
        iat: now,
        exp: now + 300,
        auth_time: now,
        ...more,
      }
      return JSON.parse(JSON.stringify(claims))
    },
    logoutClaims: (more: Record<string, unknown> = {}) =>
      forger.claims({
        jti: `of ${Math.random()}`,
        auth_time: undefined,
        events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
        ...more,
      }),
    close,
  }
  let nonce = ''
  const used = new Set<string>()
  answerBy(async (request, response) => {
    if (forger.instead(request, response)) return
    const send = (body: unknown, status = 200) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    if (request.url === '/.well-known/openid-configuration') {
      return send({
        issuer: origin,
        authorization_endpoint: `${origin}/auth`,
        token_endpoint: `${origin}/token`,
        jwks_uri: `${origin}/jwks`,
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256'],
        authorization_response_iss_parameter_supported: true,
        ...forger.metadata,
      })
    }
    if (request.url === '/jwks') return send({ keys: [jwk] })
    if (request.url === '/away') return send({}, 500)
    forger.authorization = request.headers.authorization
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const code = new URLSearchParams(Buffer.concat(chunks).toString()).get('code') ?? ''
    if (used.has(code)) return send({ error: 'invalid_grant' }, 400)
    used.add(code)
    const idToken = await forger.idToken(forger.claims({ nonce }))
    return send({ access_token: 'of no use', token_type: 'Bearer', expires_in: 300, id_token: idToken })
  })
  let codes = 0
  /** The callback of an attempt that begins at this address, with changed parameters. */
  function answerTo(url: string, changes: Record<string, string> = {}): string {
    const asked = new URL(url).searchParams
    nonce = asked.get('nonce') ?? ''
    codes += 1
    const parameters = { code: `code ${codes}`, state: asked.get('state') ?? '', iss: origin, ...changes }
    return `${callbackPath}?${new URLSearchParams(parameters)}`
  }
  return Object.assign(forger, { answerTo })
}
export type Forger = Awaited<ReturnType<typeof startForger>>
