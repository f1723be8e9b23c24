import { type Connection, type Send, sender } from './calls.ts'
import { type Client, clientOf } from './client.ts'
import { problemOf, refusalOf } from './problem.ts'
import type { components } from './schema.ts'

type Schemas = components['schemas']

/** A token pair and the key of its refresh: with the same key a lost answer can be fetched again. */
export type SignedIn = Schemas['TokenPair'] & { refreshKey: string }

export interface AppOptions extends Connection {
  /** The value that `keep` last got in an earlier run. */
  signedIn?: SignedIn
  /** Called with every new pair before its first use, and with undefined once there is none. */
  keep?: (signedIn: SignedIn | undefined) => void | Promise<void>
}

export interface AppClient extends Client {
  /** Throws `ProblemError`: `invalid-credentials`, `too-many-attempts`. */
  signIn(credentials: Schemas['TokenLoginCommand']): Promise<void>
  /** Ends the refresh tokens of this sign-in. The access token expires by itself. */
  signOut(): Promise<void>
}

/** A pair, and whose it is: a request of one person is never sent with a token of the next. */
interface Held {
  pair: SignedIn
  person: symbol
}

/**
 * Signs in for a token pair, and refreshes it when it is refused. All calls share one refresh, under a key,
 * so that the family survives a lost answer. Use one client for a sign-in: two would use a token twice and so
 * end its family.
 */
export function appClient({ signedIn, keep = () => undefined, ...connection }: AppOptions = {}): AppClient {
  const exchange = sender(connection)
  const anonymous = clientOf(connection, exchange)
  let current: Held | undefined = signedIn && { pair: signedIn, person: Symbol() }
  /** Is being kept, unless it is the current one: a sign-out or another sign-in meanwhile counts. */
  let newest = current

  async function become(pair: Schemas['TokenPair'] | undefined, person = Symbol()): Promise<void> {
    let kept: Held | undefined
    newest = pair && { pair: { ...pair, refreshKey: crypto.randomUUID() }, person }
    if (newest === undefined) current = undefined
    try {
      do {
        kept = newest
        await keep(kept?.pair)
      } while (kept !== newest)
      current = kept
    } finally {
      // A pair that could not be kept is not used.
      if (kept === newest) newest = current
    }
  }

  async function renew(): Promise<void> {
    const used = current
    if (used === undefined) return
    const header = { 'Idempotency-Key': used.pair.refreshKey }
    const body = { refreshToken: used.pair.refreshToken }
    try {
      const { data } = await anonymous.POST('/v1/auth/token/refresh', { body, params: { header } })
      if (newest === used) await become(data, used.person)
    } catch (failure) {
      if (problemOf(failure, 'invalid-refresh-token') && newest === used) await become(undefined)
      throw failure
    }
  }

  const revoke = (token: string) =>
    anonymous.POST('/v1/auth/revoke', { body: new URLSearchParams({ token }) })

  let signOuts = 0
  const send = withBearer(exchange, renew)

  return {
    ...clientOf(connection, (request, asked = {}) => {
      const person = current?.person
      asked.token ??= () => (current?.person === person ? current?.pair.accessToken : '')
      return send(request, asked.token)
    }),
    async signIn(credentials) {
      const before = signOuts
      const { data } = await anonymous.POST('/v1/auth/token', { body: credentials })
      // After a sign-out meanwhile nobody is signed in.
      await (signOuts === before ? become(data) : revoke(data.refreshToken))
    },
    async signOut() {
      signOuts += 1
      // If another sign-in is being kept, both sign-ins end.
      const ended = new Map([newest, current].flatMap((held) => (held ? [[held.person, held]] : [])))
      const tokens = [...ended.values()].map(({ pair }) => pair.refreshToken)
      await Promise.all([become(undefined), ...tokens.map(revoke)])
    },
  }
}

export interface ServiceOptions extends Connection, Record<keyof Schemas['ClientTokenCommand'], string> {}

/** Signs in as a service by its secret. Fetches a token if there is none or it is refused. */
export function serviceClient({ clientId, clientSecret, ...connection }: ServiceOptions): Client {
  const exchange = sender(connection)
  const anonymous = clientOf(connection, exchange)
  let token: string | undefined

  async function renew(): Promise<void> {
    const { data } = await anonymous.POST('/v1/auth/clients/token', { body: { clientId, clientSecret } })
    token = data.accessToken
  }

  const send = withBearer(exchange, renew)
  return clientOf(connection, (request) => send(request, () => token))
}

/**
 * Sends with the current token. If that is refused, sends once more with its successor. All calls share one
 * renewal: `renew` gets another token, or throws. With '' the caller's person has gone: nothing is renewed.
 */
function withBearer(exchange: Send, renew: () => Promise<void>) {
  let renewing: Promise<void> | undefined
  const renewed = () => {
    renewing ??= renew().finally(() => {
      renewing = undefined
    })
    return renewing
  }
  return async (request: Request, current: () => string | undefined) => {
    if (current() === undefined) await renewed()
    const again = request.clone()
    const used = current()
    const answer = await exchange(bearing(request, used))
    if ((await refusalOf(answer, 401)) !== 'authentication-required') return answer
    if (used !== '' && current() === used) await renewed()
    const next = current()
    if (!next || next === used) return answer
    await answer.body?.cancel()
    return exchange(bearing(again, next))
  }
}

function bearing(request: Request, token: string | undefined): Request {
  if (token) request.headers.set('authorization', `Bearer ${token}`)
  return request
}
