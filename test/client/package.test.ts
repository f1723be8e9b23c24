import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { build } from 'vite'
import { clientProject } from '../support/client-package.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../..', import.meta.url))

/** Code that compiles against the types of the package, and code that must not. */
const consumer = `
import { appClient, browserClient, ifUnchanged, problemOf, serviceClient, judgeReceipt, readVerifierKey, type components, type SignedIn } from 'countersign-client'

const service = serviceClient({ baseUrl: 'https://a.example', clientId: 'a', clientSecret: 'b' })
// @ts-expect-error a secret is needed
serviceClient({ clientId: 'a' })
const kept: SignedIn[] = []
const app = appClient({ keep: (signedIn) => void (signedIn && kept.push(signedIn)) })
await app.signIn({ email: 'a@example.com', password: 'b' })
await browserClient().signOut()

const read = await app.GET('/v1/orders/{id}', { params: { path: { id: 'x' } } })
const { total }: { total: number } = read.data satisfies components['schemas']['Order']
// @ts-expect-error there is no such field
read.data.colour
// @ts-expect-error the id is needed
app.GET('/v1/orders/{id}')
// @ts-expect-error no such path
app.GET('/v1/order')
// @ts-expect-error no such parameter
app.GET('/v1/orders', { params: { query: { colour: 'red' } } })
// @ts-expect-error what is not offered
app.DELETE('/v1/orders')
// @ts-expect-error a body is needed
app.POST('/v1/orders', {})
await app.POST('/v1/orders', { body: { customer: 'Acme', total: '1.5' } })
const header = ifUnchanged(read)
const nothing: undefined = (await app.PATCH('/v1/orders/{id}/approve', { params: { path: { id: 'x' }, header } })).data
for await (const { customer } of service.each('/v1/orders')) customer.toUpperCase()
const rows = [{ from: '12.50', approvals: 1, selfApproval: true, services: true }]
await app.PUT('/v1/approval-policy', { body: { rows }, params: { header: { 'If-Match': '*' } } })
const [row] = (await app.GET('/v1/approval-policy')).data.rows
const from: number | undefined = row?.from
const csv: Response = await service.export('/v1/orders', 'text/csv', { params: { query: { filter: 'a' } } })
// @ts-expect-error not in this form
service.export('/v1/log', 'text/csv')
// @ts-expect-error this is no list
service.each('/v1/auth/me')

const { orders } = app
const { data: { id } } = await orders.create({ customer: 'Acme', total: '1.5' }, { timeZone: 'Europe/Berlin' })
const found = await orders.get(id)
await orders.approve(id, { ifUnchanged: found })
await orders.note(id, 'Called them.')
for await (const { kind } of orders.history(id)) kind.toUpperCase()
for await (const { customer } of orders.export({ filter: 'status=Approved' })) customer.toUpperCase()
const { data: { receipt } } = await orders.receipt(id)
const { keys: [{ verifierKey } = { verifierKey: '' }] } = (await app.GET('/v1/log/key')).data
const { order } = await judgeReceipt(receipt, [await readVerifierKey(verifierKey)])
const approvers: string[] = order?.approvals.map(({ by }) => by.name) ?? []
// @ts-expect-error a rejection needs a reason
orders.reject(id)
// @ts-expect-error no such parameter
orders.list({ colour: 'red' })
approvers.concat(found.data.customer)

try {
  await app.GET('/v1/auth/me')
} catch (failure) {
  const status: number | undefined = problemOf(failure, 'order-not-pending')?.currentStatus
  // @ts-expect-error only that problem has it
  problemOf(failure, 'order-not-found')?.currentStatus
  // @ts-expect-error no such code
  problemOf(failure, 'order-lost')
  const problem = problemOf(failure)
  if (problem?.code === 'result-too-large') problem.limit.toFixed(total + (status ?? 0) + (from ?? 0) + csv.status + Number(nothing))
}
`
const compilerOptions = {
  strict: true,
  noEmit: true,
  target: 'es2022',
  module: 'nodenext',
  lib: ['es2023', 'dom', 'dom.iterable'],
  types: [],
}

describe('the package of the client, installed from its tarball', () => {
  let folder: string
  before(async () => {
    folder = await clientProject()
  })
  const read = (path: string) => readFile(join(folder, 'node_modules/countersign-client', path), 'utf8')

  it('has no dependencies, a README and a licence, and is small', async () => {
    const { dependencies, license, exports } = JSON.parse(await read('package.json'))
    assert.deepEqual([dependencies, license], [undefined, 'MIT'])
    assert.ok((await read('README.md')).includes('countersign-client'))
    assert.ok((await read('LICENSE')).includes('MIT'))
    assert.ok((await read(exports['.'].types)).length > 0)
  })

  const limits = { appClient: 4_096, browserClient: 4_096, serviceClient: 3_584, judgeReceipt: 8_192 }
  for (const [name, limit] of Object.entries(limits)) {
    it(`adds at most ${limit} bytes to a bundle for ${name}`, async () => {
      const entry = join(folder, `${name}.js`)
      await writeFile(entry, `import { ${name} } from 'countersign-client'\nglobalThis.used = ${name}`)
      const built = await build({
        configFile: false,
        root: folder,
        logLevel: 'silent',
        build: { write: false, modulePreload: false, rolldownOptions: { input: entry } },
      })
      const code = [built].flat().flatMap((one) => ('output' in one ? one.output : []))
      const size = gzipSync(code.map((chunk) => ('code' in chunk ? chunk.code : '')).join('')).length
      assert.ok(size > 1_000 && size <= limit, String(size))
    })
  }

  it('is typed: a call that the service does not offer does not compile', async () => {
    await writeFile(join(folder, 'consumer.ts'), consumer)
    await writeFile(
      join(folder, 'tsconfig.json'),
      JSON.stringify({ compilerOptions, files: ['consumer.ts'] }),
    )
    const tsc = join(root, 'node_modules/typescript/bin/tsc')
    const { stdout } = await run(process.execPath, [tsc, '-p', folder]).catch((error) => error)
    assert.equal(stdout, '')
  })
})
