import { machineStamp } from '../../server/caller/stamp.ts'
import { newClient, newUser, serviceToken, signIn, type TestUser, tokenPair } from '../support/accounts.ts'
import type { Answer, Client } from '../support/client.ts'
import type { Operation } from '../support/description.ts'
import { firstRoles } from '../support/roles.ts'
import type { Service } from '../support/service.ts'
import type { Fields } from './sender.ts'

const permissionsOf: Record<string, readonly string[]> = firstRoles

export interface Gate {
  status: number
  code: string
}

/** A caller with good, bad or mixed credentials, and what these are worth. */
export interface Caller {
  label: string
  /** Undefined if there are no credentials, or none that are valid. */
  via?: 'session' | 'bearer'
  roles: string[]
  isService?: true
  antiforgery?: 'right' | 'csrf-token-missing' | 'csrf-token-invalid'
  headers(): Fields
  /**
   * Applies what the answer changed in the browser, and makes a new session if the answer ended the old
   * one.
   */
  keep(answer: Answer): Promise<void>
}

/**
 * The refusal, if any, that the caller's requests get before anything else is checked. test/contract/
 * checks that the description states the access of the contract.
 */
export function gateOf(
  caller: Caller,
  method: string,
  { security = [], 'x-access': access }: Operation,
): Gate | undefined {
  if (security.length === 0) return undefined
  const scheme = caller.via === 'bearer' ? 'bearerAuth' : 'cookieSession'
  if (caller.via === undefined || !security.some((one) => scheme in one))
    return { status: 401, code: 'authentication-required' }
  const isUnsafe = method !== 'get'
  if (caller.via === 'session' && isUnsafe && caller.antiforgery !== 'right')
    return { status: 403, code: caller.antiforgery ?? '' }
  if (access === 'person' && caller.isService) return { status: 403, code: 'not-for-services' }
  const held = caller.roles.flatMap((role) => permissionsOf[role] ?? [])
  return !access.includes('.') || held.includes(access)
    ? undefined
    : { status: 403, code: 'permission-denied' }
}

const sessionCookie = '__Host-Http-session'

/** Callers of every kind, the good ones with each of the roles. */
export async function makeCallers(service: Service): Promise<Caller[]> {
  const roles = ['Admin', 'Operator', 'Viewer']
  const users = await Promise.all(roles.map((role) => newUser(service, { roles: [role] })))
  const good = await Promise.all(
    users.map(async (user, index) => {
      const role = [roles[index] ?? '']
      // Each is a separate person, so that ending one's other sign-ins affects nobody else.
      const opens = async () => {
        const own = await newUser(service, { roles: role })
        return () => signIn(service, own)
      }
      return [
        await bearer(service, user, role),
        await browser(`session ${role}`, role, 'right', await opens()),
        await browser(`session ${role} without a token`, role, 'csrf-token-missing', await opens()),
        await browser(`session ${role} with the token of another`, role, 'csrf-token-invalid', await opens()),
      ]
    }),
  )
  const bare = await tokenPair(service, await newUser(service, { roles: [] }))
  const robot = await serviceToken(service, await newClient(service, ['Operator']))
  return [
    ...good.flat(),
    fixed('bearer without a role', { authorization: `bearer ${bare.accessToken}` }, []),
    { ...fixed('service', { authorization: `BEARER   ${robot}` }, ['Operator']), isService: true },
    ...(await badCallers(service, users)),
  ]
}

/** Invalid credentials, and mixtures whose valid half must not count. */
async function badCallers(service: Service, [admin]: TestUser[]): Promise<Caller[]> {
  if (admin === undefined) throw new Error('no users')
  const gone = await newUser(service)
  const revoked = await tokenPair(service, gone)
  const change = { account: gone.account, enabled: false, stamp: machineStamp(service.now()) }
  await service.db.write('setAccountEnabled', change)
  const pair = await tokenPair(service, admin)
  // Separate accounts, because each may end all other sign-ins of its account.
  const viewers = await tokenPair(service, await newUser(service, { roles: ['Viewer'] }))
  const session = (await signIn(service, admin)).cookies.get(sessionCookie)
  const cookie = `${sessionCookie}=${session}`
  const tampered = `${pair.accessToken.slice(0, -9)}${pair.accessToken.endsWith('AAAAAAAAA') ? 'BBBBBBBBB' : 'AAAAAAAAA'}`
  return [
    fixed('anonymous', {}),
    fixed('another scheme', { authorization: 'Basic YTpi' }),
    fixed('bearer of a disabled user', { authorization: `Bearer ${revoked.accessToken}` }),
    fixed('tampered bearer', { authorization: `Bearer ${tampered}` }),
    fixed('refresh token as bearer', { authorization: `Bearer ${pair.refreshToken}` }),
    fixed('session id as bearer', { authorization: `Bearer ${session}` }),
    fixed('access token as session', { cookie: `${sessionCookie}=${pair.accessToken}` }),
    fixed('empty bearer', { authorization: 'Bearer' }),
    fixed('two bearers', { authorization: [`Bearer ${pair.accessToken}`, `Bearer ${pair.accessToken}`] }),
    fixed('bad bearer over a good session', { authorization: 'Bearer x', cookie }),
    fixed('two sessions', { cookie: `${cookie}; ${cookie}` }),
    fixed('unknown session', { cookie: `${sessionCookie}=${'A'.repeat(43)}` }),
    fixed('viewer over admin', { authorization: `Bearer ${viewers.accessToken}`, cookie }, ['Viewer']),
  ]
}

/** Without roles the credentials are missing or invalid; with roles they are a bearer. */
function fixed(label: string, headers: Fields, roles?: string[]): Caller {
  const what = roles === undefined ? { roles: [] } : { via: 'bearer' as const, roles }
  return { label, ...what, headers: () => headers, keep: async () => undefined }
}

/** Gets a new token when the old one has ended, because it ended the other sign-ins, for example. */
async function bearer(service: Service, user: TestUser, roles: string[]): Promise<Caller> {
  const credentialsDate = () =>
    service.db.read
      .selectFrom('principals')
      .select('credentials_changed_at as at')
      .where('id', '=', user.id)
      .executeTakeFirstOrThrow()
  let { at } = await credentialsDate()
  let { accessToken } = await tokenPair(service, user)
  return {
    label: `bearer ${roles}`,
    via: 'bearer',
    roles,
    headers: () => ({ authorization: `Bearer ${accessToken}` }),
    async keep() {
      const now = await credentialsDate()
      if (now.at !== at) ({ accessToken } = await tokenPair(service, user))
      at = now.at
    },
  }
}

async function browser(
  label: string,
  roles: string[],
  antiforgery: NonNullable<Caller['antiforgery']>,
  open: () => Promise<Client>,
): Promise<Caller> {
  const foreign = (await open()).headers['x-xsrf-token'] ?? ''
  let client = await open()
  const tokens = { right: () => client.headers['x-xsrf-token'] ?? '', 'csrf-token-invalid': () => foreign }
  return {
    label,
    via: 'session',
    roles,
    antiforgery,
    headers: () => ({
      cookie: [...client.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
      ...(antiforgery === 'csrf-token-missing' ? {} : { 'x-xsrf-token': tokens[antiforgery]() }),
    }),
    async keep({ setCookies }) {
      const [value] = setCookies.flatMap((line) => /^__Host-Http-session=([^;]+);/.exec(line)?.[1] ?? [])
      const isCleared = setCookies.some((line) => line.startsWith(`${sessionCookie}=;`))
      if (value !== undefined) client.cookies.set(sessionCookie, value)
      if (isCleared) client = await open()
    },
  }
}
