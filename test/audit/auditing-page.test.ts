import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { addEvents } from '../support/log.ts'
import { type Service, startService } from '../support/service.ts'

describe('docs/auditing.md', () => {
  let service: Service
  let folder: string
  const files = { log: '', checkpoint: '', jwks: '' }
  before(async () => {
    service = await startService({ orders: true })
    await addEvents(service, 200)
    folder = await mkdtemp(join(tmpdir(), 'countersign-auditing-'))
    const page = await readFile(new URL('../../docs/auditing.md', import.meta.url), 'utf8')
    const script = /<!-- script:.*-->\n```js\n([\s\S]*?)```/.exec(page)?.[1]
    assert.ok(script)
    await writeFile(join(folder, 'check.mjs'), script)
    const admin = await service.bearer('admin')
    files.log = (await admin.get('/v1/log', { accept: 'application/jsonl' })).text
    files.checkpoint = (await admin.get('/v1/log/checkpoint')).body.checkpoint
    files.jwks = (await admin.get('/.well-known/jwks.json')).text
  })
  after(async () => {
    await service.close()
    await rm(folder, { recursive: true })
  })

  /** What the script of the page says of these files. */
  async function check(given: Partial<typeof files> = {}): Promise<{ ok: boolean; said: string }> {
    for (const [name, text] of Object.entries({ ...files, ...given }))
      await writeFile(join(folder, name), text)
    return new Promise((resolve) => {
      execFile(
        process.execPath,
        ['check.mjs', 'log', 'checkpoint', 'jwks'],
        { cwd: folder },
        (error, stdout, stderr) => {
          resolve({
            ok: error === null,
            said: error === null ? stdout.trim() : (/^Error: (.*)$/m.exec(stderr)?.[1] ?? stderr),
          })
        },
      )
    })
  }

  it('has a script that finds a real export whole, down to the hash of the checkpoint', async () => {
    const count = files.log.trimEnd().split('\n').length
    assert.ok(count > 600)
    assert.deepEqual(await check(), { ok: true, said: `${count} events fit, and the checkpoint agrees` })
  })

  it('has a script that names what does not fit', async () => {
    const lines = files.log.trimEnd().split('\n')
    const [header, , signature] = files.checkpoint.split('.')
    const claims = Buffer.from(JSON.stringify({ size: 1, hash: '0'.repeat(64) })).toString('base64url')
    const cases: [Partial<typeof files>, string][] = [
      [
        { log: lines.with(4, (lines[4] ?? '').replace('"by":"', '"by":"e')).join('\n') },
        'event 5 does not fit',
      ],
      [{ log: lines.toSpliced(6, 1).join('\n') }, 'event 7 does not fit'],
      [
        { log: files.log.replace(/"text":"Note 7:/, '"text":"Note 8:') },
        `event ${lines.length - 192} does not fit`,
      ],
      [{ log: lines.slice(0, -1).join('\n') }, `the checkpoint of ${lines.length} events disagrees`],
      [{ checkpoint: [header, claims, signature].join('.') }, 'no checkpoint of this service'],
    ]
    for (const [given, said] of cases) assert.deepEqual(await check(given), { ok: false, said })
  })
})
