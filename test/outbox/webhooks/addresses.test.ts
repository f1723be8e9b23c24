import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Destinations, isGloballyReachable } from '../../../server/outbox/webhooks/address.ts'
import { post } from '../../../server/outbox/webhooks/post.ts'
import { newAdministrator } from '../../support/administration.ts'
import { assertProblem } from '../../support/problem.ts'
import { testService } from '../../support/service.ts'
import { startReceiver } from '../../support/webhooks.ts'

/** Addresses that lead into a network, each as it can stand in a URL, and as a resolver would give it. */
const refused: [literal: string, address: string][] = [
  ['127.0.0.1', '127.0.0.1'],
  ['127.1', '127.0.0.1'],
  ['0x7f.1', '127.0.0.1'],
  ['0177.0.0.1', '127.0.0.1'],
  ['2130706433', '127.0.0.1'],
  ['0.0.0.0', '0.0.0.0'],
  ['0', '0.0.0.0'],
  ['10.1.2.3', '10.1.2.3'],
  ['100.64.0.1', '100.64.0.1'],
  ['169.254.169.254', '169.254.169.254'],
  ['172.31.255.255', '172.31.255.255'],
  ['192.0.0.8', '192.0.0.8'],
  ['192.0.2.1', '192.0.2.1'],
  ['192.88.99.1', '192.88.99.1'],
  ['192.168.0.1', '192.168.0.1'],
  ['198.18.0.1', '198.18.0.1'],
  ['198.51.100.1', '198.51.100.1'],
  ['203.0.113.1', '203.0.113.1'],
  ['224.0.0.1', '224.0.0.1'],
  ['255.255.255.255', '255.255.255.255'],
  ['[::1]', '::1'],
  ['[::]', '::'],
  ['[::ffff:127.0.0.1]', '::ffff:7f00:1'],
  ['[::ffff:8.8.8.8]', '::ffff:808:808'],
  ['[::7f00:1]', '::7f00:1'],
  ['[64:ff9b::127.0.0.1]', '64:ff9b::7f00:1'],
  ['[64:ff9b::10.1.2.3]', '64:ff9b::a01:203'],
  ['[64:ff9b:1::1]', '64:ff9b:1::1'],
  ['[100::1]', '100::1'],
  ['[2001::1]', '2001::1'],
  ['[2001:2::1]', '2001:2::1'],
  ['[2001:db8::1]', '2001:db8::1'],
  ['[2002:7f00:1::]', '2002:7f00:1::'],
  ['[3fff::1]', '3fff::1'],
  ['[5f00::1]', '5f00::1'],
  ['[fc00::1]', 'fc00::1'],
  ['[fd12:3456::1]', 'fd12:3456::1'],
  ['[fe80::1]', 'fe80::1'],
  ['[fec0::1]', 'fec0::1'],
  ['[ff02::1]', 'ff02::1'],
]

/** Beyond the ends of the ranges above, and the exceptions within them. */
const reachable = [
  ...['1.0.0.0', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '126.255.255.255'],
  ...['128.0.0.0', '169.253.255.255', '172.15.255.255', '172.32.0.0', '192.0.0.9', '192.0.0.10'],
  ...['192.0.1.0', '192.0.3.0', '192.167.255.255', '192.169.0.0', '198.17.255.255', '198.20.0.0'],
  ...['223.255.255.255', '2001:4860:4860::8888', '2a00::1', '2001:1::3', '2001:20::1', '64:ff9b::808:808'],
]

const publicAddress = '203.0.114.1'
const noName = () => Promise.reject(new Error('no such name'))

/** A message that nothing but the test's receiver could get. */
const message = { headers: {}, body: '{"type":"ping","data":{}}' }
const signal = new AbortController().signal

describe('an address of a webhook', () => {
  it('is refused if it is not globally reachable', () => {
    const strays = refused.filter(([, address]) => isGloballyReachable(address))
    assert.deepEqual(strays, [])
    assert.deepEqual(
      reachable.filter((address) => !isGloballyReachable(address)),
      [],
    )
  })

  describe('when the webhook is created or changed', () => {
    const service = testService()

    it('is refused as a literal, however it is spelled', async () => {
      const { caller } = await newAdministrator(service)
      for (const [literal] of refused) {
        const answer = await caller.post('/v1/webhooks', {
          url: `https://${literal}:8443/`,
          events: ['order'],
        })
        assertProblem(answer, 400, 'validation-failed')
        assert.deepEqual(
          answer.body.errors.map(({ pointer, code }: Record<string, string>) => [pointer, code]),
          [['#/url', 'address']],
          literal,
        )
      }
      const added = await caller.post('/v1/webhooks', { url: 'https://8.8.8.8/', events: ['order'] })
      const path = added.headers.get('location') ?? ''
      assertProblem(await caller.patch(path, { url: 'https://10.0.0.1/' }), 400, 'validation-failed')
      assert.equal((await caller.send('DELETE', path)).status, 204)
    })

    it('is refused as a name of this machine', async () => {
      const { caller } = await newAdministrator(service)
      for (const name of ['localhost', 'localhost.', 'LOCALHOST', 'a.localhost']) {
        const answer = await caller.post('/v1/webhooks', { url: `https://${name}/`, events: ['order'] })
        assertProblem(answer, 400, 'validation-failed')
      }
    })

    it('is refused by http, with credentials, with a fragment, or in another form', async () => {
      const { caller } = await newAdministrator(service)
      for (const [url, code] of [
        ['http://8.8.8.8/', 'address'],
        ['https://user@example.com/', 'credentials'],
        ['https://user:password@example.com/', 'credentials'],
        ['https://example.com/#part', 'fragment'],
        ['https://example.com/#', 'fragment'],
        ['ftp://example.com/', 'format'],
        ['file:///etc/passwd', 'format'],
        ['https://example.com\\@10.0.0.1/', 'format'],
        [' https://example.com/', 'format'],
        ['https:example.com', 'format'],
        ['example.com', 'format'],
        [`https://example.com/${'x'.repeat(2_000)}`, 'length'],
        [1, 'type'],
      ]) {
        const answer = await caller.post('/v1/webhooks', { url, events: ['order'] })
        assertProblem(answer, 400, 'validation-failed')
        assert.equal(answer.body.errors[0].code, code, String(url))
      }
    })

    it('is checked by what its name resolves to, and taken if that is not known', async () => {
      for (const [, address] of refused) {
        const destinations = new Destinations([], async () => [publicAddress, address])
        assert.match(
          String(await destinations.refusalOf(new URL('https://example.com/'))),
          /not a public address/,
        )
      }
      for (const resolve of [noName, async () => [publicAddress]]) {
        assert.equal(
          await new Destinations([], resolve).refusalOf(new URL('https://example.com/')),
          undefined,
        )
      }
    })

    it('is refused by http unless its name is known to lead into WEBHOOK_NETWORKS', async () => {
      const refusalOf = (resolve: () => Promise<string[]>, url: string) =>
        new Destinations(['10.0.0.0/8'], resolve).refusalOf(new URL(url))
      assert.equal(await refusalOf(async () => ['10.1.2.3'], 'http://erp.example/'), undefined)
      const rule = 'plain http is for addresses within WEBHOOK_NETWORKS'
      assert.equal(await refusalOf(async () => [publicAddress], 'http://erp.example/'), rule)
      assert.equal(await refusalOf(noName, 'http://erp.example/'), `${rule}, and its host was not found`)
      const silent = () => new Promise<string[]>(() => undefined)
      for (const nothing of [silent, async () => []]) {
        assert.match(String(await refusalOf(nothing, 'http://erp.example/')), /was not found$/)
      }
      assert.equal(await refusalOf(noName, 'https://erp.example/'), undefined)
    })
  })

  describe('when something is sent', () => {
    it('is refused as a literal', async (t) => {
      const receiver = await startReceiver(t)
      const destinations = new Destinations([], noName)
      const { port } = new URL(receiver.url)
      for (const [literal] of refused) {
        const sent = post(new URL(`https://${literal}:${port}/`), message, { destinations, signal })
        await assert.rejects(sent, /not a public address/, literal)
      }
      assert.deepEqual(receiver.received, [])
    })

    it('is refused if one of the addresses of its name is', async (t) => {
      const receiver = await startReceiver(t)
      const { port } = new URL(receiver.url)
      for (const [, address] of refused) {
        for (const addresses of [[address], [publicAddress, address], [address, publicAddress]]) {
          const destinations = new Destinations([], async () => addresses)
          const sent = post(new URL(`https://example.com:${port}/`), message, { destinations, signal })
          await assert.rejects(sent, /not a public address/, address)
        }
      }
      assert.deepEqual(receiver.received, [])
    })

    it('is refused by http unless all addresses are within WEBHOOK_NETWORKS', async () => {
      for (const addresses of [[publicAddress], ['127.0.0.1', publicAddress]]) {
        const destinations = new Destinations(['127.0.0.1/32'], async () => addresses)
        const sent = post(new URL('http://example.com:9/'), message, { destinations, signal })
        await assert.rejects(sent, /plain http/)
      }
    })

    it('is looked up once, and connected to as it was checked', async (t) => {
      const receiver = await startReceiver(t)
      const { port } = new URL(receiver.url)
      let looks = 0
      const destinations = new Destinations(['127.0.0.1'], async () => {
        looks += 1
        return looks === 1 ? ['127.0.0.1'] : ['10.0.0.1']
      })
      const { status } = await post(new URL(`http://rebinding.example:${port}/`), message, {
        destinations,
        signal,
      })
      assert.deepEqual([status, looks, receiver.received.length], [204, 1, 1])
    })

    it('is tried at each address of its name, until one of them answers', async (t) => {
      const receiver = await startReceiver(t)
      const { port } = new URL(receiver.url)
      // Nothing listens at the others.
      const away = ['127.0.0.2', '127.0.0.3', '::1']
      for (const addresses of [
        ...away.map((address) => [address, '127.0.0.1']),
        [...away, '127.0.0.1'],
        ['127.0.0.1', ...away],
      ]) {
        const destinations = new Destinations(['127.0.0.0/8', '::1'], async () => addresses)
        const sent = post(new URL(`http://several.example:${port}/`), message, { destinations, signal })
        assert.equal((await sent).status, 204, addresses.join())
      }
      const nowhere = new Destinations(['127.0.0.0/8', '::1'], async () => away)
      const lost = post(new URL(`http://several.example:${port}/`), message, {
        destinations: nowhere,
        signal,
      })
      await assert.rejects(lost)
      assert.equal(receiver.received.length, 5)
    })

    it('is not followed to another by a redirect', async (t) => {
      const [receiver, target] = [await startReceiver(t), await startReceiver(t)]
      receiver.answer = (_message, response) => response.writeHead(307, { location: target.url }).end()
      const destinations = new Destinations(['127.0.0.1'], noName)
      const { status } = await post(new URL(receiver.url), message, { destinations, signal })
      assert.equal(status, 307)
      assert.deepEqual(target.received, [])
    })

    it('is given up after the time limit, wherever it hangs', async (t) => {
      const receiver = await startReceiver(t)
      receiver.answer = () => undefined
      const options = { signal, timeLimitMilliseconds: 300 }
      const destinations = new Destinations(['127.0.0.1'], () => new Promise(() => undefined))
      const silent = post(new URL(receiver.url), message, { destinations, ...options })
      await assert.rejects(silent, /did not answer in time/)
      const unresolved = post(new URL('https://example.com/'), message, { destinations, ...options })
      await assert.rejects(unresolved, /did not answer in time/)
      // A service that stops sends nothing more, and waits for no name.
      const stopped = { destinations, signal: AbortSignal.abort() }
      await assert.rejects(post(new URL('https://example.com/'), message, stopped), { name: 'AbortError' })
      receiver.answer = (_message, response) => response.writeHead(200).write('begun')
      const patient = { destinations, signal, timeLimitMilliseconds: 3_000 }
      const begun = await post(new URL(receiver.url), message, patient)
      assert.deepEqual([begun.status, begun.body], [200, 'begun'])
    })

    it('may answer without end: 64 KiB are read', { timeout: 60_000 }, async (t) => {
      const receiver = await startReceiver(t)
      receiver.answer = (_message, response) => response.writeHead(200).write('x'.repeat(200_000))
      const destinations = new Destinations(['127.0.0.1'], noName)
      const options = { destinations, signal, timeLimitMilliseconds: 300_000 }
      const { body } = await post(new URL(receiver.url), message, options)
      assert.equal(body.length, 64 * 1024)
    })
  })
})
