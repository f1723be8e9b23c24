import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { copyFile, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { originOf, publishedKeys } from '../../../server/audit/checkpoint.ts'
import { exportLog } from '../../../server/audit/log.ts'
import { Timestamping } from '../../../server/audit/timestamps/watch.ts'
import { startAuthority, withoutOpenssl } from '../../support/authority.ts'
import { testLogKeys } from '../../support/log.ts'
import { logInstance } from '../../support/log-instance.ts'
import { publicUrl } from '../../support/service.ts'

const repository = new URL('../../../', import.meta.url)
const page = await readFile(new URL('docs/auditing.md', repository), 'utf8')
const [, recipe = ''] =
  /<!-- commands: run by test\/audit\/timestamps\/.*-->\n```sh\n([\s\S]*?)```/.exec(page) ?? []

describe('the recipe for timestamps in docs/auditing.md', { skip: withoutOpenssl }, () => {
  it('verifies a timestamp of openssl ts -reply, and none of another text', async (t) => {
    const authority = await startAuthority(t)
    const instance = await logInstance(t, 3)
    instance.clock.now = Date.parse('2026-11-29T00:01:00Z')
    await new Timestamping({ ...instance.parts, url: authority.url }).look()
    assert.deepEqual(instance.said(), [])
    const folder = await mkdtemp(join(tmpdir(), 'countersign-recipe-'))
    t.after(() => rm(folder, { recursive: true }))
    await symlink(new URL('server', repository), join(folder, 'server'))
    await copyFile(join(authority.folder, 'root.pem'), join(folder, 'authority.pem'))
    const lines: string[] = []
    for await (const text of exportLog(instance.db, 0, 'test')) lines.push(text)
    await writeFile(join(folder, 'log.jsonl'), lines.join(''))
    const [key] = await publishedKeys(testLogKeys(), originOf(publicUrl, 1))
    const env = { ...process.env, DATABASE_URL: instance.databaseUrl, KEY: key?.verifierKey }
    /** The exit status, and everything that is printed. */
    const run = (script: string) =>
      new Promise<{ status: number; said: string }>((resolve) => {
        execFile('sh', ['-e', '-c', script], { cwd: folder, env }, (error, stdout, stderr) =>
          resolve({ status: error === null ? 0 : Number(error.code), said: stdout + stderr }),
        )
      })
    const { status, said } = await run(recipe)
    assert.equal(status, 0, said)
    assert.match(said, /^Verification: OK$/m)
    assert.match(said, /^Hash Algorithm: sha256$/m)
    assert.match(said, /^The log is whole: 3 events/m)
    const checkpoint = join(folder, 'stamps/2026-11-28.checkpoint')
    await writeFile(checkpoint, (await readFile(checkpoint, 'utf8')).replace('\n3\n', '\n4\n'))
    const [, verify = ''] = recipe.split('\n')
    const altered = await run(verify)
    assert.notEqual(altered.status, 0)
    assert.match(altered.said, /^Verification: FAILED$/m)
  })
})
