import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * The gate: the checks of the sources, one a core at a time, then all tests. --quick runs only the tests that
 * need no database, --no-tests none. A check prints when it fails.
 */
const root = fileURLToPath(new URL('..', import.meta.url))
const has = (option: string) => process.argv.includes(option)
/** Longest first. */
const checks = [
  'tsc',
  ...(has('--quick') ? ['node tools/test.ts --quick'] : []),
  'node tools/generate.ts --check',
  'tsc -p web',
  'biome ci .',
  'knip',
]

const path = [dirname(process.execPath), join(root, 'node_modules', '.bin'), process.env.PATH].join(delimiter)
const env = { ...process.env, PATH: path }

const waiting = checks.values()
await Promise.all(Array.from({ length: availableParallelism() }, workOff))
if (process.exitCode === undefined && !has('--quick') && !has('--no-tests')) {
  const [status] = await once(
    spawn('node tools/test.ts', { cwd: root, env, shell: true, stdio: 'inherit' }),
    'close',
  )
  process.exitCode = status ?? 1
}

async function workOff(): Promise<void> {
  for (const check of waiting) {
    const started = performance.now()
    const child = spawn(check, { cwd: root, env, shell: true, stdio: ['ignore', 'pipe', 'pipe'] })
    const printed: Buffer[] = []
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => printed.push(chunk))
    const [status] = await once(child, 'close')
    const seconds = ((performance.now() - started) / 1000).toFixed(1)
    if (status !== 0) process.stdout.write(`\n${Buffer.concat(printed)}`)
    process.stdout.write(`${status === 0 ? 'ok ' : 'RED'} ${check}, ${seconds} s\n`)
    if (status !== 0) process.exitCode = 1
  }
}
