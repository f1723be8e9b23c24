import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { startPostgres } from '../support/postgres.ts'
import { keepRelease } from '../support/releases.ts'

// `node test/releases/make.ts 1.0.0`: the databases of a release on both engines, and what its callers saw.
const [, script = '', release = ''] = process.argv
if (!/^\d+\.\d+\.\d+$/.test(release)) throw new Error('give the version of the release')
mkdirSync(new URL(release, import.meta.url), { recursive: true })
await keepRelease(release)
if (process.env.TEST_DATABASE_URL === undefined) {
  const { url, end } = await startPostgres()
  const env = { ...process.env, TEST_DATABASE_URL: url }
  execFileSync(process.execPath, [script, release], { env, stdio: 'inherit' })
  await end()
}
