import { spawnSync } from 'node:child_process'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * The gate: cheap steps first, and the first that fails ends it. The tests come last; --no-tests leaves them out.
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
