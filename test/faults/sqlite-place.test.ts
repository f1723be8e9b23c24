import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { commandLine } from '../cli/command-line.ts'
import { bearerOf, newProduction, type Production } from '../support/production.ts'

const main = new URL('../../server/main.ts', import.meta.url).pathname
const folder = mkdtempSync(join(tmpdir(), 'countersign-place-'))
const file = join(folder, 'orders.db')
const bind = `touch '${file}' && mount --bind '${file}' '${file}'`
const withoutMounts =
  spawnSync('unshare', ['--mount', 'sh', '-c', bind]).status === 0 ? false : 'needs the right to mount'

describe('a service on an SQLite file', () => {
  let production: Production
  const cli = commandLine({ after })
  before(async () => {
    production = await newProduction({ databaseUrl: `file:${file}` })
  })
  after(async () => {
    await production.remove()
    rmSync(folder, { recursive: true })
  })

  /** Starts `serve` with the file mounted without its folder. Ends it once it listens. */
  async function serveMounted(env: Record<string, string>) {
    const script = `${bind} && exec '${process.execPath}' '${main}' serve`
    const child = spawn('unshare', ['--mount', 'sh', '-c', script], {
      cwd: folder,
      env: { ...process.env, ...production.env, PORT: '0', ...env },
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (text) => {
        if (!output.includes('listening at') && `${output}${text}`.includes('listening at')) child.kill()
        output += text
      })
    }
    const [status] = await once(child, 'close')
    return { status, output }
  }

  it('does not start where the file is mounted without its folder, unless the operator insists', {
    skip: withoutMounts,
  }, async () => {
    const { status, output } = await serveMounted({})
    assert.equal(status, 1)
    const sentence =
      /^countersign: DATABASE_URL: \S+ is mounted without its folder, so .*, or set DATABASE_PLACE_CHECK=off$/m
    assert.match(output, sentence)
    const insisted = await serveMounted({ DATABASE_PLACE_CHECK: 'off' })
    assert.equal(insisted.status, 0, insisted.output)
    assert.match(insisted.output, /listening at/)
  })

  it('is the only one: another says so and ends, and one that was killed is in nobody’s way', async () => {
    const first = await production.serve()
    const { status, stderr } = await cli.run('serve', '', { ...production.env, PORT: '0' })
    assert.equal(status, 1)
    assert.match(
      stderr,
      /^countersign: DATABASE_URL: another service has \S+orders\.db open: end it first, .*\n$/,
    )
    const admin = await bearerOf(first.baseUrl, 'admin')
    assert.equal((await admin.post('/v1/orders', { customer: 'Acme', total: 1 })).status, 201)
    // Commands run next to it.
    assert.equal((await cli.run('role list', '', production.env)).status, 0)
    await first.stop('SIGKILL')
    const next = await production.serve()
    assert.equal((await (await bearerOf(next.baseUrl, 'admin')).get('/v1/orders')).body.totalCount, 1)
  })
})
