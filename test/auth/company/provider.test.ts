import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { after, describe, it } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { SignJWT } from 'jose'
import { CompanyProvider } from '../../../server/auth/credentials/company/provider.ts'
import { systemClock } from '../../../server/clock.ts'
import { companySettings, readConfig } from '../../../server/config.ts'
import { systemNames } from '../../../server/names.ts'
import { type Script, startAnswering } from '../../support/answering.ts'
import { callbackPath, companyEnv, startForger } from '../../support/company.ts'
import { setUp } from '../../support/service.ts'

const publicUrl = 'https://orders.example.com'

describe('a provider that did not answer', () => {
  it('is asked again, by the same instance', async (t) => {
    const forger = await startForger()
    t.after(() => forger.close())
    const settings = companySettings(readConfig(companyEnv(forger.issuer), { development: true }))
    assert.ok(settings)
    let isAway = true
    const resolve = systemNames()
    const asked = new CompanyProvider({
      settings,
      resolve: async (name) => {
        if (isAway) throw Object.assign(new Error('away'), { code: 'ENOTFOUND' })
        return resolve(name)
      },
      clock: systemClock,
    })
    const begin = () => asked.begin('sign-in', publicUrl + callbackPath)
    for (let tries = 0; tries < 2; tries += 1) {
      await assert.rejects(begin(), { code: 'company-account-unreachable' })
    }
    isAway = false
    assert.match((await begin()).url, /code_challenge/)
  })
})

describe('a provider that answers badly', () => {
  const parts = setUp(async () => ({ forger: await startForger() }))
  after(() => parts.forger.close())

  function provider(changes: { clientId?: string; clientSecret?: string } = {}, clock = systemClock) {
    const settings = companySettings(readConfig(companyEnv(parts.forger.issuer), { development: true }))
    assert.ok(settings)
    return new CompanyProvider({
      settings: { ...settings, ...changes },
      resolve: systemNames(),
      clock,
    })
  }

  async function finish(asked: CompanyProvider, changes: Record<string, string> = {}) {
    const begun = await asked.begin('sign-in', publicUrl + callbackPath)
    const attempt = { ...begun, purpose: 'sign-in', returnTo: '/', startedAt: 0 } as const
    const none = { replacedIdHash: null, offeredBinding: null, asker: null, link: null }
    const callback = new URL(parts.forger.answerTo(begun.url, changes), publicUrl)
    return asked.finish(callback, { ...attempt, ...none })
  }

  it('by addresses that are none, or that anyone on the way can read', async () => {
    for (const name of ['authorization_endpoint', 'token_endpoint', 'jwks_uri']) {
      for (const address of [
        null,
        5,
        'javascript:alert(1)',
        'http://login.example.com/x',
        'file:///etc/passwd',
        ['https://login.example.com/x'],
      ]) {
        parts.forger.metadata = { [name]: address }
        const failure = { name: 'CompanyFailure', code: 'company-answer-invalid' }
        await assert.rejects(
          provider().begin('sign-in', publicUrl + callbackPath),
          failure,
          `${name} ${address}`,
        )
      }
    }
    parts.forger.metadata = { token_endpoint_auth_methods_supported: {} }
    assert.match((await provider().begin('sign-in', publicUrl + callbackPath)).url, /code_challenge/)
    parts.forger.metadata = {}
  })

  it('by a refusal, whose code the log has, and by nonsense, of which it has nothing', async () => {
    const asked = provider()
    const again = { code: 'always the same' }
    parts.forger.idToken = async () => 'c2VjcmV0.c2VjcmV0.c2VjcmV0'
    await assert.rejects(finish(asked, again), (error: Error) => !error.message.includes('secret'))
    await assert.rejects(finish(asked, again), /\(invalid_grant\)/)
    parts.forger.idToken = (claims) => parts.forger.sign(claims)
  })

  it('by a token that the secret signs, or by an error of its server', async () => {
    parts.forger.idToken = (claims) =>
      new SignJWT(claims).setProtectedHeader({ alg: 'HS512' }).sign(new Uint8Array(64))
    parts.forger.metadata = { id_token_signing_alg_values_supported: ['HS512', 'RS256'] }
    await assert.rejects(finish(provider()), /have it sign with RS256/)
    parts.forger.idToken = (claims) => parts.forger.sign(claims)
    parts.forger.metadata = { token_endpoint: `${parts.forger.issuer}/away` }
    const failure = { code: 'company-account-unreachable', message: 'it answered with status 500' }
    await assert.rejects(finish(provider()), failure)
    parts.forger.metadata = {}
  })

  it('by keys that are none', async (t) => {
    const look = () => provider().look(publicUrl + callbackPath)
    // The forger takes any code once.
    await assert.rejects(look, /accepted a code/)
    let script: Script = () => assert.fail()
    const address = await startAnswering(t, (...asked) => script(...asked))
    script = (_body, response) =>
      response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":"invalid_scope"}')
    parts.forger.metadata = { token_endpoint: address }
    await assert.rejects(look, /invalid_scope/)
    parts.forger.metadata = { jwks_uri: address }
    const bare = [204, 205, 304].map((status): [Script, RegExp, string] => [
      (_body, response) => response.writeHead(status).end(),
      /it is no JSON/,
      'company-answer-invalid',
    ])
    for (const [answer, message, code] of [
      [(_body, response) => response.end('{}'), /it publishes no keys/, 'company-answer-invalid'],
      [(_body, response) => response.end('null'), /it publishes no keys/, 'company-answer-invalid'],
      [(_body, response) => response.end('x'), /it is no JSON/, 'company-answer-invalid'],
      [(_body, response) => response.end(' '.repeat(524_289)), /it sent more than/, 'company-answer-invalid'],
      [(_body, response) => response.destroy(), /ECONNRESET|hang up/, 'company-account-unreachable'],
      ...bare,
    ] satisfies [Script, RegExp, string][]) {
      script = answer
      await assert.rejects(look, { name: 'CompanyFailure', message, code })
    }
    parts.forger.metadata = {}
  })

  it('by a secret that it does not decode, unless it has to be encoded', async () => {
    const shownAs = async (clientId: string, clientSecret: string) => {
      await provider({ clientId, clientSecret })
        .look(publicUrl + callbackPath)
        .catch(() => undefined)
      return Buffer.from(parts.forger.authorization?.split(' ')[1] ?? '', 'base64').toString()
    }
    assert.equal(await shownAs('an-id_1.0', 'a-secret_1.0*'), 'an-id_1.0:a-secret_1.0*')
    assert.equal(await shownAs('a:b', 'c=d +%é'), 'a%3Ab:c%3Dd+%2B%25%C3%A9')
  })

  it('by keys that it cannot send now, so it is away', async () => {
    parts.forger.instead = ({ url }, response) => url === '/jwks' && !!response.writeHead(500).end()
    await assert.rejects(finish(provider()), { code: 'company-account-unreachable' })
    parts.forger.instead = () => false
  })

  it('by half of it, which does not count as an end of the connection', async (t) => {
    const limit = new AbortController()
    t.mock.method(AbortSignal, 'timeout', () => limit.signal)
    parts.forger.instead = (_, response) => response.write('{', () => limit.abort()) || true
    const failure = { code: 'company-account-unreachable', message: 'it did not answer in time' }
    await assert.rejects(finish(provider()), failure)
    parts.forger.instead = () => false
  })

  it('by no answer about itself: for a day, nobody who begins waits for it, and it is asked once a minute', async () => {
    let now = systemClock()
    const asked = provider({}, () => now)
    const begin = () => asked.begin('sign-in', publicUrl + callbackPath)
    await begin()
    const held: ServerResponse[] = []
    parts.forger.instead = (_, response) => held.push(response) > 0
    now += 61 * 60_000
    await begin()
    while (held.length < 1) await setTimeout(5)
    assert.equal(held[0]?.destroyed, false)
    parts.forger.instead = (_, response) => held.push(response.writeHead(500).end()) > 0
    held[0]?.writeHead(500).end()
    await setTimeout(50)
    await begin()
    assert.equal(held.length, 1)
    now += 60_000
    for (; held.length < 2; await setTimeout(5)) await begin()
    now += 24 * 3_600_000
    // The first may still wait for the answer to the second request.
    while (held.length < 3) await assert.rejects(begin(), { code: 'company-account-unreachable' })
    parts.forger.instead = () => false
    await begin()
    // The clock was ahead.
    now -= 48 * 3_600_000
    parts.forger.instead = (_, response) => held.push(response.writeHead(500).end()) > 0
    for (; held.length < 4; await setTimeout(5)) await begin()
    parts.forger.instead = () => false
  })
})
