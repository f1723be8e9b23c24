import { spawnSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { globSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/**
 * The long form of test/fuzz/, on both engines: each property for FUZZ_SECONDS (180 unless told), or FUZZ_RUNS times.
 * One seed for all of it is printed first; with it as FUZZ_SEED the same is sent again.
 */
const root = fileURLToPath(new URL('..', import.meta.url))
const {
  FUZZ_RUNS,
  FUZZ_SECONDS = FUZZ_RUNS ? '' : '180',
  FUZZ_SEED = String(randomInt(2 ** 31 - 1)),
} = process.env
process.stdout.write(`FUZZ_SEED=${FUZZ_SEED}\n`)
const { status } = spawnSync(
  process.execPath,
  ['tools/test.ts', ...globSync('test/fuzz/*.test.ts', { cwd: root })],
  {
    cwd: root,
    // A file of tests may take as long as its properties together, and then some to make a failure small.
    env: { ...process.env, FUZZ_SECONDS, FUZZ_SEED, TEST_TIMEOUT_MILLISECONDS: String(3_600_000) },
    stdio: 'inherit',
  },
)
process.exitCode = status ?? 1
