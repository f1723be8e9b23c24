import { handleOf } from '../server/auth/credentials/passkeys/ceremonies.ts'
import { Passwords } from '../server/auth/credentials/passwords/passwords.ts'
import { loadSigningKeys } from '../server/auth/credentials/tokens/keys.ts'
import { RefreshTokens } from '../server/auth/credentials/tokens/refresh-tokens.ts'
import { AccessTokens } from '../server/auth/credentials/tokens/tokens.ts'
import { machineStamp, stampOf } from '../server/caller/stamp.ts'
import { systemClock } from '../server/clock.ts'
import type { AppDatabase } from '../server/db/port.ts'
import { newOpaqueId, newSecret, sha256 } from '../server/ids.ts'
import { cbor, Passkey } from '../test/support/authenticator.ts'
import type { BenchPasskey } from './requests.ts'

const tokensPerUser = 5
const password = 'countersign bench password'
const tokenTtlSeconds = 4 * 3600
const hour = 3_600_000
const atOnce = 20

/** All callers of a run: many users, each with several tokens and sessions, as header lines and bodies. */
export interface Callers {
  bearers: string[]
  cookies: string[]
  logins: string[]
  /** One of each user. */
  passkeys: BenchPasskey[]
  /** Refresh tokens of families that nothing has used yet. */
  makeRefreshTokens(count: number): Promise<string[]>
}

export interface CallersOptions {
  db: AppDatabase
  publicUrl: string
  signingKeyFile: string
  userCount: number
}

/** Makes the accounts in the database as commands do, and the credentials that signing in would give them. */
export async function makeCallers({ db, ...options }: CallersOptions): Promise<Callers> {
  const passwordHash = await new Passwords().hash(password)
  const credentialsChangedAt = systemClock() - hour
  const users = Array.from(
    { length: options.userCount },
    (_, index) => `bench-${String(index + 1).padStart(3, '0')}`,
  )
  const ids = await inTurn(users, (userName) => addUser(db, userName, passwordHash, credentialsChangedAt))
  const keys = await loadSigningKeys([options.signingKeyFile], 'RS256')
  const tokens = new AccessTokens(keys, () => options.publicUrl, systemClock)
  const each = ids.flatMap((id, index) =>
    Array.from({ length: tokensPerUser }, () => ({ id, userName: users[index] ?? '' })),
  )
  const bearers = await Promise.all(
    each.map(async ({ id, userName }) => {
      const signIn = { id: newOpaqueId(), authenticatedAt: credentialsChangedAt }
      const subject = { subject: String(id), userName, roles: ['Admin'], signIn }
      const { token } = await tokens.issue(
        { ...subject, credentialsChangedAt },
        tokenTtlSeconds,
        systemClock() - 2_000,
      )
      return `authorization: Bearer ${token}\r\n`
    }),
  )
  const account = (id: number) => ({ principalId: id, passwordHash, credentialsChangedAt })
  const cookies = await inTurn(each, ({ id }) => makeCookie(db, account(id)))
  const { hostname } = new URL(options.publicUrl)
  const passkeys = await inTurn(ids, (id) => addPasskey(db, account(id), hostname))
  return {
    bearers,
    cookies,
    passkeys,
    logins: users.map((userName) => JSON.stringify({ email: `${userName}@example.com`, password })),
    makeRefreshTokens: (count) =>
      inTurn(
        Array.from({ length: count }, (_, index) => ids[index % ids.length] ?? 0),
        async (id) => (await makeFamily(db, account(id))).token,
      ),
  }
}

/** A few at a time, because work that waits too long for a connection fails. */
async function inTurn<T, R>(values: T[], work: (value: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  for (let start = 0; start < values.length; start += atOnce) {
    results.push(...(await Promise.all(values.slice(start, start + atOnce).map(work))))
  }
  return results
}

interface Account {
  principalId: number
  passwordHash: string
  credentialsChangedAt: number
}

async function addUser(
  db: AppDatabase,
  userName: string,
  passwordHash: string,
  nowMilliseconds: number,
): Promise<number> {
  const { id } = await db.write('addUser', {
    userName,
    email: `${userName}@example.com`,
    passwordHash,
    timeZone: null,
    roles: ['Admin'],
    stamp: machineStamp(nowMilliseconds),
  })
  return id
}

async function makeCookie(db: AppDatabase, account: Account): Promise<string> {
  const id = newSecret()
  const now = systemClock()
  await db.write('createSession', {
    ...account,
    touch: null,
    sessionId: newOpaqueId(),
    idHash: sha256(id),
    offeredBinding: null,
    freshBinding: newSecret(),
    replacedIdHash: null,
    sessionIdleTtlSeconds: 1800,
    nowMilliseconds: now,
    absoluteExpiresAt: now + 8 * hour,
    userAgent: null,
  })
  return `cookie: __Host-Http-session=${id}\r\n`
}

/** A family as if the user had just signed in, in which the user then adds a passkey. */
async function addPasskey(db: AppDatabase, account: Account, rpId: string): Promise<BenchPasskey> {
  const { principalId, credentialsChangedAt } = account
  const { familyId } = await makeFamily(db, account)
  const passkey = new Passkey({ userHandle: handleOf(principalId) })
  const { id, keys, userHandle } = passkey
  const publicKey = cbor(passkey.cose()).toString('base64url')
  const now = systemClock()
  const standing = { via: 'bearer', credentialsChangedAt } as const
  await db.write('addPasskey', {
    signIn: { id: familyId, idHash: null },
    passkey: { id, publicKey, jwk: {}, aaguid: '', counter: 0, isSynced: true, isBackedUp: true },
    challenge: { nonce: newOpaqueId(), expiresAt: now },
    rpId,
    name: 'Bench',
    stamp: stampOf({ id: principalId, userName: '', standing }, now, null),
  })
  return { id, keys, userHandle }
}

/** The tag is not genuine, which does not matter for the current token of a family. */
async function makeFamily(db: AppDatabase, account: Account): Promise<{ familyId: string; token: string }> {
  const familyId = newOpaqueId()
  const token = new RefreshTokens(Buffer.alloc(32)).first(familyId)
  const now = systemClock()
  await db.write('createRefreshFamily', {
    ...account,
    touch: null,
    familyId,
    tokenHash: sha256(token),
    nowMilliseconds: now,
    tokenExpiresAt: now + 24 * hour,
    familyExpiresAt: now + 24 * hour,
    userAgent: null,
  })
  return { familyId, token }
}
