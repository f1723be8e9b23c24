import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const main = fileURLToPath(new URL('../main.ts', import.meta.url))

const running = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

export interface Program {
  process: ChildProcess
  /** Where it listens. */
  url: string
  /** Everything that it has printed so far. */
  output(): string
  /** Its exit status, once it has ended by SIGTERM or by itself. */
  stop(): Promise<number | null>
}

function start(options: readonly string[], env: Record<string, string>, program = main) {
  const child = spawn(process.execPath, [program, ...options], { env: { ...process.env, ...env } })
  running.add(child)
  const ended = once(child, 'close').then(() => running.delete(child))
  const texts = { stdout: '', stderr: '' }
  child.stdout.on('data', (chunk) => {
    texts.stdout += chunk
  })
  child.stderr.on('data', (chunk) => {
    texts.stderr += chunk
  })
  return { child, texts, ended }
}

/** Runs it until it ends. */
export async function run(...options: string[]) {
  const { child, texts, ended } = start(options, {})
  await ended
  return { status: child.exitCode, ...texts }
}

/** Resolves once it listens. `program` is an installed one instead of the sources. */
export async function startProgram(
  options: readonly string[],
  env: Record<string, string> = {},
  program = main,
): Promise<Program> {
  const { child, texts, ended } = start(options, env, program)
  let url: string | undefined
  while (url === undefined) {
    const hasEnded = await Promise.race([
      once(child.stdout, 'data').then(() => false),
      ended.then(() => true),
    ])
    if (hasEnded) throw new Error(`the witness ended with ${child.exitCode}: ${texts.stderr}`)
    url = /listening at (http:[^"]+)/.exec(texts.stdout)?.[1]
  }
  return {
    process: child,
    url,
    output: () => texts.stdout,
    async stop() {
      child.kill('SIGTERM')
      await ended
      return child.exitCode
    },
  }
}
