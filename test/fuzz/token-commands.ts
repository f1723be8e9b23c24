import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { Answer } from '../support/client.ts'
import { assertProblem } from '../support/problem.ts'
import { command, weighted } from './command.ts'
import { type Account, fromEnd, isGood, type Model, type RefreshToken, required } from './model.ts'
import { anyUser, assertPasswordTried, userOf } from './session-commands.ts'

const accessMilliseconds = 900_000
const serviceMilliseconds = 3_600_000
const refreshIdleMilliseconds = 7_200_000
const familyMilliseconds = 10_800_000

const post = (path: string, body: unknown) => ({
  method: 'POST',
  path,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})

/**
 * Stores an access token dated within a second of now: in whole seconds, and after the last change of the
 * account.
 */
function keepAccessToken(
  model: Model,
  account: Account,
  value: string,
  expiresAt: string,
  earliest: number,
): void {
  const expires = Date.parse(expiresAt)
  assert.ok(expires > earliest - 1_000 && expires <= earliest + 1_000, expiresAt)
  const token = {
    value,
    account,
    expires,
    changesBefore: account.changes.length,
    refusedAt: new Set<number>(),
  }
  model.accessTokens.push({ ...token, roles: [...account.roles] })
}

function keepPair(model: Model, now: number, family: RefreshToken['family'], { body }: Answer): void {
  keepAccessToken(
    model,
    family.account,
    body.accessToken,
    body.accessTokenExpiresAt,
    now + accessMilliseconds,
  )
  const expires = Math.min(now + refreshIdleMilliseconds, family.end)
  model.refreshTokens.push({ value: body.refreshToken, family, expires, isUsed: false })
}

const issueToken = command('issueToken', anyUser, async (model, world, { user, isRight, instance }) => {
  const account = userOf(model, user)
  const password = isRight ? account.password : 'wrong'
  const answer = await world.send(instance, post('/v1/auth/token', { email: account.email, password }))
  if (!assertPasswordTried(model, account, isRight, world.now, answer)) return
  assert.equal(answer.status, 200)
  keepPair(model, world.now, { account, end: world.now + familyMilliseconds, isRevoked: false }, answer)
})

const anyGuesses = fc.record({ user: fc.nat(2), tries: fc.integer({ min: 2, max: 7 }) })

/** Wrong passwords alternating between both instances, a second apart. */
const guess = command('guess', anyGuesses, async (model, world, { user, tries, instance }) => {
  for (let count = 0; count < tries; count += 1) {
    const account = userOf(model, user)
    const body = { email: account.email, password: 'wrong' }
    const answer = await world.send(instance + count, post('/v1/auth/token', body))
    assertPasswordTried(model, account, false, world.now, answer)
    world.service.advance(1_000)
  }
})

/** Often the newest token, which is usually good; often a used one. */
const anyToken = fc.record({ token: fc.constantFrom(0, 0, 0, 0, 1, 2, 3, 5) })

/** Whether the token still works. Presenting a used one ends its family. */
function spend(token: RefreshToken, now: number): boolean {
  const works = isGood(token, now)
  if (token.isUsed) token.family.isRevoked = true
  if (works) token.isUsed = true
  return works
}

const refreshToken = command('refreshToken', anyToken, async (model, world, { token: index, instance }) => {
  const token = fromEnd(model.refreshTokens, index)
  const value = token?.value ?? 'x'.repeat(112)
  const answer = await world.send(instance, post('/v1/auth/token/refresh', { refreshToken: value }))
  if (token === undefined || !spend(token, world.now)) {
    assertProblem(answer, 401, 'invalid-refresh-token')
    return
  }
  assert.equal(answer.status, 200)
  keepPair(model, world.now, token.family, answer)
})

const raceRefresh = command('four refreshes at once', anyToken, async (model, world, { token: index }) => {
  const token = fromEnd(model.refreshTokens, index)
  if (token === undefined) return
  const outgoing = post('/v1/auth/token/refresh', { refreshToken: token.value })
  const answers = await Promise.all([0, 1, 2, 3].map((instance) => world.send(instance, outgoing)))
  const works = spend(token, world.now)
  const [winner, ...others] = answers.filter(({ status }) => status === 200)
  assert.deepEqual([winner !== undefined, others.length], [works, 0])
  for (const answer of answers) if (answer !== winner) assertProblem(answer, 401, 'invalid-refresh-token')
  if (winner === undefined) return
  keepPair(model, world.now, token.family, winner)
  token.family.isRevoked = true
})

const anySecret = fc.record({
  secret: fc.constantFrom(0, 0, 0, 1, 2),
  isRight: fc.constantFrom(true, true, true, false),
})

const serviceToken = command('issueServiceToken', anySecret, async (model, world, input) => {
  const client = clientOf(model)
  const known = required(fromEnd(client.secrets, input.secret))
  const clientSecret = input.isRight ? known : 'wrong'
  const body = { clientId: client.name, clientSecret }
  const answer = await world.send(input.instance, post('/v1/auth/clients/token', body))
  if (!input.isRight || !client.enabled) {
    assertProblem(answer, 401, 'invalid-client')
    return
  }
  assert.equal(answer.status, 200)
  const { accessToken, expiresAt } = answer.body
  keepAccessToken(model, client, accessToken, expiresAt, world.now + serviceMilliseconds)
})

/** A dropped secret counts as none. */
const droppedSecret = command(
  'issueServiceToken of a dropped secret',
  fc.constant({}),
  async (model, world, { instance }) => {
    const dropped = model.droppedSecrets.at(-1)
    if (dropped === undefined) return
    const body = { clientId: clientOf(model).name, clientSecret: dropped }
    assertProblem(await world.send(instance, post('/v1/auth/clients/token', body)), 401, 'invalid-client')
  },
)

export function clientOf(model: Model): Account {
  return required(model.accounts.find(({ kind }) => kind === 'client'))
}

export const tokenCommands = weighted(
  [4, issueToken],
  [1, guess],
  [4, refreshToken],
  [1, raceRefresh],
  [3, serviceToken],
  [1, droppedSecret],
)

/** A token for everyone. */
export const firstTokens = [
  ...[2, 1, 0].map((user) => issueToken.of({ user, isRight: true })),
  serviceToken.of({ secret: 0, isRight: true }),
]
