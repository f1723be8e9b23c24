import { Challenges } from '../server/auth/credentials/passkeys/challenges.ts'
import { systemClock } from '../server/clock.ts'
import { Passkey } from '../test/support/authenticator.ts'

/** What one connection sends, one request after another: plain data, because it goes to the load thread. */
export type Requests =
  /** Each request draws a path and a set of header lines. */
  | { kind: 'get'; paths: string[]; headers: string[] }
  /** With `idempotent` every request carries its own key. */
  | { kind: 'post'; path: string; headers: string[]; bodies: string[]; idempotent: boolean }
  /** Each connection presents the refresh token that its last answer gave it. */
  | { kind: 'refresh'; path: string; refreshTokens: string[] }
  /** Each request draws a passkey, which answers a new challenge made with the service's secret (base64). */
  | { kind: 'touch'; path: string; rpId: string; passkeys: BenchPasskey[]; challengeSecret: string }

export type BenchPasskey = Pick<Passkey, 'id' | 'keys' | 'userHandle'>

export interface Sender {
  next(): string
  /** True when `answered` wants the body. */
  readsBody: boolean
  answered(body: string): void
}

const host = 'host: orders.example.com\r\n'

/** `connection` counts from 0. `run` makes keys that no other run has. */
export function makeSender(requests: Requests, connection: number, run: string): Sender {
  const draw = drawer(connection)
  const nothing = { readsBody: false, answered: () => undefined }
  if (requests.kind === 'get') {
    const { paths, headers } = requests
    return { ...nothing, next: () => `GET ${draw(paths)} HTTP/1.1\r\n${host}${draw(headers)}\r\n` }
  }
  if (requests.kind === 'post') {
    const { path, headers, bodies, idempotent } = requests
    let count = 0
    return {
      ...nothing,
      next() {
        count += 1
        const key = idempotent ? `idempotency-key: ${run}-${connection}-${count}\r\n` : ''
        return post(path, `${draw(headers)}${key}`, draw(bodies))
      },
    }
  }
  if (requests.kind === 'touch') {
    const { path, rpId, challengeSecret } = requests
    const challenges = new Challenges(Buffer.from(challengeSecret, 'base64'))
    const passkeys = requests.passkeys.map((passkey) => new Passkey(passkey))
    return {
      ...nothing,
      next() {
        const challenge = challenges.make('sign-in', null, systemClock())
        return post(path, '', JSON.stringify({ credential: draw(passkeys).get({ challenge, rpId }) }))
      },
    }
  }
  let refreshToken = requests.refreshTokens[connection % requests.refreshTokens.length] ?? ''
  return {
    readsBody: true,
    next: () => post(requests.path, '', JSON.stringify({ refreshToken })),
    answered(body) {
      refreshToken = JSON.parse(body).refreshToken
    },
  }
}

function post(path: string, headers: string, body: string): string {
  const length = Buffer.byteLength(body)
  return `POST ${path} HTTP/1.1\r\n${host}content-type: application/json\r\ncontent-length: ${length}\r\n${headers}\r\n${body}`
}

/** Draws values in an order that looks random and is always the same (a linear congruence). */
function drawer(seed: number): <T>(values: readonly T[]) => T {
  let state = (seed * 2_654_435_761 + 12_345) >>> 0
  return <T>(values: readonly T[]) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return values[Math.floor((state / 2 ** 32) * values.length)] as T
  }
}
