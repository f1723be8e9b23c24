import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { machineStamp, stampOf } from '../../server/caller/stamp.ts'
import type { AppDatabase } from '../../server/db/port.ts'
import { newSecret, sha256 } from '../../server/ids.ts'
import { hashOf } from './cheap-hash.ts'
import type { Answer, Client } from './client.ts'
import { noteSecret } from './discretion.ts'
import type { Service } from './service.ts'

/** Password of every account made here, unless the test gives another. It is long enough for every rule. */
const usualPassword = 'quiet harbour lanterns at dusk'

export interface TestUser {
  id: number
  userName: string
  email: string
  password: string
  /** How write operations name the account. */
  account: { kind: 'user'; name: string }
  /** Body of a sign-in. */
  credentials: { email: string; password: string }
}

/** A user that no other test knows. */
export async function newUser(
  service: Service,
  { roles = ['Operator'], password = usualPassword }: { roles?: string[]; password?: string } = {},
): Promise<TestUser> {
  const userName = `user-${randomBytes(6).toString('hex')}`
  const email = `${userName}@example.com`
  const { id } = await service.db.write('addUser', {
    userName,
    email,
    passwordHash: await hashOf(password),
    timeZone: null,
    roles,
    stamp: machineStamp(service.now() - 1_000),
  })
  const account = { kind: 'user', name: userName } as const
  return { id, userName, email, password, account, credentials: { email, password } }
}

/** An email of no account, with no failed tries. */
export const unknownEmail = () => `nobody-${randomBytes(6).toString('hex')}@example.com`

/** The token of a new one-time link for the user. */
export async function newLink(service: Service, { account }: Pick<TestUser, 'account'>): Promise<string> {
  const token = newSecret()
  noteSecret(token)
  const stamp = machineStamp(service.now())
  await service.db.write('makeLink', { account, tokenHash: sha256(token), stamp })
  return token
}

export interface TestClient {
  id: number
  clientId: string
  clientSecret: string
  account: { kind: 'client'; name: string }
  credentials: { clientId: string; clientSecret: string }
}

/** A service client that no other test knows. */
export async function newClient(
  service: Service,
  roles: string[] = ['Operator'],
  ownerId: number | null = null,
): Promise<TestClient> {
  const clientId = `client-${randomBytes(6).toString('hex')}`
  const clientSecret = newSecret()
  const { id } = await service.db.write('addClient', {
    clientId,
    secretHash: sha256(clientSecret),
    roles,
    ownerId,
    stamp: machineStamp(service.now() - 1_000),
  })
  const account = { kind: 'client', name: clientId } as const
  return { id, clientId, clientSecret, account, credentials: { clientId, clientSecret } }
}

/** A new administrator, as input of a write operation that decides. */
export async function newActor(db: AppDatabase) {
  const userName = `user-${randomBytes(6).toString('hex')}`
  const user = { userName, email: `${userName}@example.com`, passwordHash: null, timeZone: null }
  const made = machineStamp(1)
  const { id } = await db.write('addUser', { ...user, roles: ['Admin'], stamp: made })
  const standing = { via: 'bearer', credentialsChangedAt: made.nowMilliseconds } as const
  return { ...machineStamp(1), by: userName, byId: id, standing, isService: false }
}

/** A signed-in user, as a write operation knows them. */
export async function stampBy({ db, now }: Pick<Service, 'db' | 'now'>, { id, userName }: TestUser) {
  const { credentials_changed_at: credentialsChangedAt } = await db.read
    .selectFrom('principals')
    .select('credentials_changed_at')
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return stampOf({ id, userName, standing: { via: 'bearer', credentialsChangedAt } }, now(), null)
}

/** A browser in which the user has signed in, with its antiforgery token. */
export async function signIn(service: Service, { credentials }: TestUser): Promise<Client> {
  const browser = service.client()
  await browser.post('/v1/auth/session', credentials)
  await browser.fetchAntiforgeryToken()
  return browser
}

export interface TestPair {
  accessToken: string
  accessTokenExpiresAt: string
  refreshToken: string
}

/** A new token family of the user. */
export async function tokenPair(service: Service, { credentials }: TestUser): Promise<TestPair> {
  return (await service.client().post('/v1/auth/token', credentials)).body
}

/** A caller with a new access token of the user. */
export async function bearerOf(service: Service, user: TestUser): Promise<Client> {
  return service.client().withBearer((await tokenPair(service, user)).accessToken)
}

/** The same for a user that no other test knows. */
export async function newCaller(service: Service, roles: string[]): Promise<Client> {
  return bearerOf(service, await newUser(service, { roles }))
}

export function refresh(service: Pick<Service, 'client'>, refreshToken: string): Promise<Answer> {
  return service.client().post('/v1/auth/token/refresh', { refreshToken })
}

/** A user or a client, as far as a write operation names it. */
type Account = Pick<TestUser | TestClient, 'account'>

export function setEnabled(service: Service, { account }: Account, enabled: boolean) {
  const stamp = machineStamp(service.now())
  return service.db.write('setAccountEnabled', { account, enabled, stamp })
}

export function grantRoles(service: Service, { account }: Account, roles: string[]) {
  return service.db.write('grantRoles', { account, roles, stamp: machineStamp(service.now()) })
}

export function revokeRoles(service: Service, { account }: Account, roles: string[]) {
  return service.db.write('revokeRoles', { account, roles, stamp: machineStamp(service.now()) })
}

/** Does what an operator's password change does. If the password is set to what it was, it still signs in. */
export async function setPassword(service: Service, user: TestUser, password = user.password) {
  const passwordHash = await hashOf(password)
  const stamp = machineStamp(service.now())
  return service.db.write('setPassword', { account: user.account, passwordHash, stamp })
}

/** The answer to a revocation (RFC 7009). */
export function revoke(service: Service, token: string): Promise<Answer> {
  return service.client().postForm('/v1/auth/revoke', { token })
}

/** One of every credential. The access token has been used, so the service remembers its state. */
export async function everyCredentialOf(service: Service, user: TestUser) {
  const browser = await signIn(service, user)
  const { accessToken, refreshToken } = await tokenPair(service, user)
  const bearer = service.client().withBearer(accessToken)
  assert.equal((await bearer.get('/v1/auth/me')).status, 200)
  return { browser, bearer, refreshToken }
}

/** A service's access token. */
export async function serviceToken(service: Service, { credentials }: TestClient): Promise<string> {
  return (await service.client().post('/v1/auth/clients/token', credentials)).body.accessToken
}

/** A caller with such a token. */
export async function machineOf(service: Service, client: TestClient): Promise<Client> {
  return service.client().withBearer(await serviceToken(service, client))
}

/** Everything stored about sign-ins, as text. A secret that it does not contain was not stored. */
export async function storedCredentials({ db }: Service): Promise<string> {
  const tables = ['principals', 'users', 'client_secrets', 'sessions', 'session_ids'] as const
  const more = ['refresh_families', 'login_failures', 'known_addresses'] as const
  const rows = [...tables, ...more].map((table) => db.read.selectFrom(table).selectAll().execute())
  return JSON.stringify(await Promise.all(rows))
}

/** How many sessions and token families the account has. */
export async function liveCredentials(
  { db }: Service,
  { id }: { id: number },
): Promise<{ sessions: number; families: number }> {
  return {
    sessions: (await ofCurrentEpoch(db, 'sessions', [id])).length,
    families: (await ofCurrentEpoch(db, 'refresh_families', [id])).length,
  }
}

/** Ids of the rows that belong to the epoch of their account. */
export async function ofCurrentEpoch(
  { read }: AppDatabase,
  table: 'sessions' | 'refresh_families',
  principalIds: number[],
): Promise<string[]> {
  const rows = await read
    .selectFrom(table)
    .innerJoin('principals', (join) =>
      join
        .onRef('principals.id', '=', `${table}.principal_id`)
        .onRef('principals.credentials_epoch', '=', `${table}.credentials_epoch`),
    )
    .select(`${table}.id`)
    .where('principals.id', 'in', principalIds)
    .execute()
  return rows.map((row) => row.id)
}
