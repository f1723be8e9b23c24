import { spawnSync } from 'node:child_process'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * The gate, in the order of what it costs; ends at the first step that fails. The tests come last, and are left out
 * with --no-tests, for who has just run them.
 */
const root = fileURLToPath(new URL('..', import.meta.url))
const steps = [
  'biome ci .',
  'tsc',
  'tsc -p web',
  'knip',
  'redocly lint docs/openapi.json',
  'node tools/generate.ts --check',
  'node tools/test.ts',
]

const chosen = process.argv.includes('--no-tests') ? steps.slice(0, -1) : steps

const path = [dirname(process.execPath), join(root, 'node_modules', '.bin'), process.env.PATH].join(delimiter)
const env = { ...process.env, PATH: path, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }

for (const step of chosen) {
  process.stdout.write(`\n# ${step}\n`)
  const { status } = spawnSync(step, { cwd: root, env, shell: true, stdio: 'inherit' })
  if (status !== 0) {
    process.exitCode = status ?? 1
    break
  }
}
