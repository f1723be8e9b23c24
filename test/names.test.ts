// engine: none
import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import type { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { nameServers, systemNames, whyUnreachable } from '../server/names.ts'
import { startNameServer } from './support/name-server.ts'

const noSuchName = { status: 3 }

/** The files of a machine, and its name server. */
async function machineOf(
  t: TestContext,
  { hosts = '', resolvConf = '' },
  recordsOf: Parameters<typeof startNameServer>[1] = () => noSuchName,
) {
  const folder = mkdtempSync(join(tmpdir(), 'names-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const files = { hosts: join(folder, 'hosts'), resolvConf: join(folder, 'resolv.conf') }
  writeFileSync(files.hosts, hosts)
  writeFileSync(files.resolvConf, resolvConf)
  const server = await startNameServer(t, recordsOf)
  return { files, server, resolve: nameServers({ ...files, servers: [server.address] }) }
}

describe('a name that a caller chose', () => {
  it('is found in the file of hosts first, ignoring case, comments and a last dot', async (t) => {
    const hosts =
      '# none\n127.0.0.1 localhost\n10.1.2.3\tHook.Example other # third\n::1 hook.example\nx hook.example\n'
    const { resolve, server } = await machineOf(t, { hosts })
    for (const name of ['hook.example', 'HOOK.example', 'hook.example.']) {
      assert.deepEqual(await resolve(name), ['10.1.2.3', '::1'], name)
    }
    for (const name of ['third', 'none', '10.1.2.3x'])
      await assert.rejects(resolve(name), { code: 'ENOTFOUND' })
    assert.ok(server.asked.every((question) => !question.includes('hook')))
  })

  it('has the addresses of both families, or those of one', async (t) => {
    const records: Record<string, string[]> = {
      'both.example': ['192.0.2.1', '192.0.2.2', '2001:db8::1'],
      'four.example': ['192.0.2.1'],
      'six.example': ['2001:db8::1'],
    }
    const { resolve } = await machineOf(t, {}, (name) => records[name] ?? noSuchName)
    for (const [name, addresses] of Object.entries(records)) {
      assert.deepEqual((await resolve(name)).toSorted(), addresses, name)
    }
  })

  it('is known by one family if the server fails for the other', async (t) => {
    const { resolve } = await machineOf(t, {}, (_, type) => (type === 'A' ? ['192.0.2.1'] : { status: 2 }))
    assert.deepEqual(await resolve('half.example'), ['192.0.2.1'])
  })

  it('has no address if the server says so, whether it exists or not', async (t) => {
    const { resolve } = await machineOf(t, {}, (name) => (name === 'empty.example' ? [] : noSuchName))
    for (const name of ['empty.example', 'missing.example']) {
      await assert.rejects(resolve(name), (error: Error) => {
        assert.equal(whyUnreachable(error), 'its name has no address (ENOTFOUND)')
        return true
      })
    }
  })

  it('is reported as not found only if a server says so', async (t) => {
    const { files, resolve } = await machineOf(t, {}, (name) => ({ status: name === 'no.example' ? 5 : 2 }))
    const reasonOf = (found: Promise<string[]>) => found.then(String, whyUnreachable)
    assert.equal(await reasonOf(resolve('failing.example')), 'its name server failed (ESERVFAIL)')
    assert.equal(await reasonOf(resolve('no.example')), 'the name server refuses to answer (EREFUSED)')
    const socket = createSocket('udp4').bind(0, '127.0.0.1')
    await once(socket, 'listening')
    const { port } = socket.address()
    socket.close()
    const away = nameServers({ ...files, servers: [`127.0.0.1:${port}`] })
    assert.equal(await reasonOf(away('away.example')), 'no name server answered (EAI_AGAIN)')
  })

  it('is looked for in each search domain, before or after itself by its dots', async (t) => {
    const resolvConf = 'search old.example\nsearch one.example two.example.\noptions timeout:1 ndots:2\n'
    const isKnown = new Set(['hook.two.example', 'hook.svc.example', 'a.b.example.one.example'])
    const { resolve, server } = await machineOf(t, { resolvConf }, (name) =>
      isKnown.has(name) ? ['192.0.2.7'] : noSuchName,
    )
    const questions = async (name: string) => {
      server.asked.length = 0
      assert.deepEqual(await resolve(name), ['192.0.2.7'], name)
      return server.asked.filter((question) => question.startsWith('A ')).map((question) => question.slice(2))
    }
    assert.deepEqual(await questions('hook'), ['hook.one.example', 'hook.two.example'])
    assert.deepEqual(await questions('hook.svc.example'), ['hook.svc.example'])
    assert.deepEqual(await questions('a.b.example'), ['a.b.example', 'a.b.example.one.example'])
    await assert.rejects(resolve('hook.'), { code: 'ENOTFOUND' })
  })

  it('is given up in a few seconds if nothing answers, and costs one socket meanwhile', {
    timeout: 300_000,
  }, async (t) => {
    const resolvConf = 'search one.example two.example three.example four.example five.example\n'
    const { resolve, files, server } = await machineOf(t, { ...{ resolvConf } }, () => undefined)
    const before = openFiles()
    const names = Array.from({ length: 50 }, (_, index) => `silent-${index}.example`)
    const failures = names.map((name) => assert.rejects(resolve(name), /ETIMEOUT|ECANCELLED/))
    while (server.asked.length < 100) await new Promise((done) => setTimeout(done, 10))
    assert.ok(openFiles() - before <= 60, `${openFiles() - before} open files`)
    // Those who ask meanwhile join the search: no more questions.
    failures.push(...names.flatMap((name) => [name, name]).map((name) => assert.rejects(resolve(name))))
    writeFileSync(files.hosts, '127.0.0.9 known.example\n')
    assert.deepEqual(await resolve('known.example'), ['127.0.0.9'])
    await Promise.all(failures)
    assert.ok(openFiles() - before <= 10)
  })

  it('is refused at once while a hundred are looked for', async (t) => {
    const { resolve } = await machineOf(t, {}, () => undefined)
    const failures = Array.from({ length: 100 }, (_, index) =>
      assert.rejects(resolve(`silent-${index}.example`)),
    )
    await assert.rejects(resolve('one-more.example'), /too many names/)
    await Promise.all(failures)
  })
})

describe('a name that the operator set', () => {
  it('is asked of the system, one at a time, unless the file of hosts has it', async (t) => {
    const { files } = await machineOf(t, { hosts: '10.9.8.7 mail.example\n' })
    const asked: string[] = []
    const answers = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const system = (async (name: string) => {
      asked.push(name)
      await answers[asked.length - 1]?.promise
      if (name === 'bad.example') throw Object.assign(new Error('no'), { code: 'ENOTFOUND' })
      return [{ address: '192.0.2.1', family: 4 }]
    }) as unknown as typeof lookup
    const resolve = systemNames(files, system)
    const bad = assert.rejects(resolve('bad.example'), { code: 'ENOTFOUND' })
    while (asked.length === 0) await new Promise((done) => setTimeout(done, 1))
    const [good, same] = [resolve('good.example'), resolve('good.example')]
    assert.deepEqual(await resolve('mail.example'), ['10.9.8.7'])
    assert.deepEqual(asked, ['bad.example'])
    answers[0]?.resolve()
    await bad
    answers[1]?.resolve()
    assert.deepEqual([await good, await same], [['192.0.2.1'], ['192.0.2.1']])
    assert.deepEqual(asked, ['bad.example', 'good.example'])
  })
})

const openFiles = () => readdirSync('/proc/self/fd').length
