import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The long form of test/faults/ on both engines, one file after the other: some of them measure. */
const root = fileURLToPath(new URL('..', import.meta.url))
const long = { FAULTS: 'long', TEST_CONCURRENCY: '1', TEST_TIMEOUT_MILLISECONDS: '1800000' }
const files = globSync('test/faults/*.test.ts', { cwd: root }).sort()
const { status } = spawnSync(process.execPath, ['tools/test.ts', ...files], {
  cwd: root,
  env: { ...process.env, ...long },
  stdio: 'inherit',
})
process.exitCode = status ?? 1
