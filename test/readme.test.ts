import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { readOrder } from '../proof/order.ts'
import type { PlacedLine } from '../proof/receipt.ts'
import { type RunningServer, startServer } from './support/process.ts'

const tools = ['bash', 'curl'].every((tool) => spawnSync(tool, ['--version']).status === 0)
const skip = !tools && 'bash and curl are not here'

describe('docs/walk.md', () => {
  let server: RunningServer
  before(async () => {
    server = await startServer(['--dev'])
  })
  after(() => server.stop())

  /** The lines that the script under this comment prints. */
  async function linesOf(comment: string, file = 'docs/walk.md'): Promise<string[]> {
    const page = await readFile(new URL(`../${file}`, import.meta.url), 'utf8')
    const script = new RegExp(`<!-- ${comment}:.*-->\\n\`\`\`sh\\n([\\s\\S]*?)\`\`\``).exec(page)?.[1]
    assert.ok(script)
    const env = { ...process.env, BASE: server.baseUrl }
    const { stdout, stderr } = await promisify(execFile)('bash', ['--norc', '-eu', '-c', script], { env })
    assert.equal(stderr, '')
    return stdout.split('\n')
  }

  it('has a walk through all three flows that works', { skip }, async () => {
    const lines = await linesOf('walk')
    const [pair = '', user = '', approved = '', refused = '', history = '', receipt = '', list = ''] = lines
    assert.deepEqual(Object.keys(JSON.parse(pair)), ['accessToken', 'accessTokenExpiresAt', 'refreshToken'])
    assert.equal(JSON.parse(user).userName, 'admin')
    assert.equal(approved, '204')
    assert.equal(JSON.parse(refused).code, 'order-not-pending')
    const [created, decided] = JSON.parse(history).items
    assert.partialDeepStrictEqual(created, { kind: 'created', by: 'operator', atTimeZone: 'Europe/Berlin' })
    assert.partialDeepStrictEqual(decided, { kind: 'approved', by: 'admin', version: 2 })
    const placed: PlacedLine[] = JSON.parse(receipt).lines
    const order = await readOrder(placed.map(({ line }) => line))
    assert.partialDeepStrictEqual(order, {
      customer: 'Acme',
      total: '1250.5',
      created: { by: { name: 'operator' } },
    })
    assert.deepEqual(
      order.approvals.map(({ by }) => by.name),
      ['admin'],
    )
    assert.equal(JSON.parse(list).items[0].id, order.id)
  })

  it('is preceded by requests in the README that create, find and approve an order', { skip }, async () => {
    const [created = '', approved, order = ''] = await linesOf('requests', 'README.md')
    const { id } = JSON.parse(created)
    assert.equal(approved, '204')
    assert.partialDeepStrictEqual(JSON.parse(order), { id, customer: 'Acme', total: 1250.5, status: 1 })
  })

  it('has a walk through four eyes that works', { skip }, async () => {
    const [policy = '', first, second, own = ''] = await linesOf('four eyes')
    assert.partialDeepStrictEqual(JSON.parse(policy), { warnings: [{ from: 1_000, code: 'too-few' }] })
    assert.deepEqual([first, second], ['204 0', '204 1'])
    assert.equal(JSON.parse(own).code, 'self-approval')
  })

  it('has the same operations in requests.http, each of which succeeds', async () => {
    const text = await readFile(new URL('../docs/requests.http', import.meta.url), 'utf8')
    const values = new Map([
      ['base', server.baseUrl],
      ['json', 'application/json'],
    ])
    const filled = (given: string) =>
      given.replaceAll(/\{\{(.+?)\}\}/g, (_, name: string) => values.get(name) ?? assert.fail(name))
    const jar = new Map<string, string>()
    const called = new Set<string>()
    for (const section of text.split(/^### .*\n/m).slice(1)) {
      const [head = '', body = ''] = section.split('\n\n')
      const lines = head.trim().split('\n')
      const name = /^# @name (\w+)$/.exec(lines[0] ?? '')?.[1]
      const [request = '', ...headers] = lines.filter((line) => !line.startsWith('#')).map(filled)
      const [method = '', ...address] = request.split(' ')
      const answer = await fetch(encodeURI(address.join(' ')), {
        method,
        headers: [
          ...headers.map((line) => line.split(': ') as [string, string]),
          ['cookie', [...jar].map((pair) => pair.join('=')).join('; ')],
        ],
        body: body === '' ? null : filled(body).trim(),
      })
      assert.ok(answer.ok, `${request}: ${answer.status}`)
      for (const [, cookie = '', value = ''] of answer.headers
        .getSetCookie()
        .map((each) => /^(.+?)=(.*?);/.exec(each) ?? [])) {
        jar.set(cookie, value)
      }
      called.add(
        `${method} ${new URL(encodeURI(address.join(' '))).pathname.replace(/[\da-f]{8}-[\da-f-]+/, '{id}')}`,
      )
      const isJson = /\bjson\b/.test(answer.headers.get('content-type') ?? '')
      const content = isJson ? ((await answer.json()) as Record<string, unknown>) : {}
      for (const [member, value] of Object.entries(content)) {
        values.set(`${name}.response.body.${member}`, String(value))
      }
    }
    const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8')
    const listed = [...readme.matchAll(/^\| ((?:GET|POST|PATCH) \S+) \|/gm)].map(([, operation]) => operation)
    assert.equal(listed.length, 16)
    assert.deepEqual([...called].toSorted(), listed.toSorted())
  })

  it('starts the service with two commands, and no checkpoint follows the banner', () => {
    assert.match(server.output(), /listening at/)
    assert.doesNotMatch(server.output(), /"event":"checkpoint"/)
  })
})

it('test/support/README.md lists every file, and no other', async () => {
  const folder = new URL('./support/', import.meta.url)
  const page = await readFile(new URL('README.md', folder), 'utf8')
  const listed = [...page.matchAll(/\]\((.+?\.ts)\)/g)].map(([, file]) => file)
  assert.deepEqual(listed.toSorted(), globSync('**/*.ts', { cwd: folder }).toSorted())
})
