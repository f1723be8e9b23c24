import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { assertDiscreet } from './discretion.ts'

const main = fileURLToPath(new URL('../../server/main.ts', import.meta.url))

/** Settings of tools/test.ts, with which a process takes a third of the time to start. */
export const quickStart = {
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(tmpdir(), 'countersign-test-compile-cache'),
  ...(process.env.NODE_OPTIONS && { NODE_OPTIONS: process.env.NODE_OPTIONS }),
}

export interface RunningServer {
  process: ChildProcess
  /** Its address, or the path of its socket. */
  baseUrl: string
  databaseUrl: string
  /** Everything the process has printed so far. */
  output(): string
  /** Resolves once the process has printed the text. */
  printed(text: string): Promise<void>
  /** Ends the process with a signal (SIGTERM by default), waits for it, and removes its folder. */
  stop(signal?: NodeJS.Signals): Promise<number | null>
}

/** Killed at exit, however the tests end. */
const running = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** A real `node server/main.ts serve` on a free port, with a new database file unless `env` names one. */
export function startServer(options: string[], env: Record<string, string> = {}): Promise<RunningServer> {
  return startProgram('serve', options, env)
}

/** The same for any command that listens. */
export async function startProgram(
  command: string,
  options: string[],
  env: Record<string, string> = {},
): Promise<RunningServer> {
  const folder = await mkdtemp(join(tmpdir(), 'countersign-process-'))
  const databaseUrl = env.DATABASE_URL ?? `file:${join(folder, 'test.db')}`
  // It starts in 7 % less of a processor's time with this room for young objects.
  const args = ['--min-semi-space-size=64', env.TEST_MAIN ?? main, command, ...options]
  const child = spawn(process.execPath, args, {
    cwd: folder,
    env: { ...process.env, PORT: '0', ...env, DATABASE_URL: databaseUrl },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.add(child)
  const [exit, closed] = [once(child, 'exit'), once(child, 'close')]
  child.once('exit', () => running.delete(child))
  let output = ''
  child.stderr.on('data', (chunk) => {
    output += chunk
  })
  const baseUrl = await new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (chunk) => {
      output += chunk
      const [, port, path] = /listening at (?:http:\/\/[^"]*?:(\d+)|unix:([^"]+))/.exec(output) ?? []
      if (port !== undefined) resolve(`http://localhost:${port}`)
      if (path !== undefined) resolve(path)
    })
    child.once('close', (code) => reject(new Error(`the server ended with ${code}:\n${output}`)))
  })
  return {
    process: child,
    baseUrl,
    databaseUrl,
    output: () => output,
    async printed(text) {
      while (!output.includes(text)) {
        if (child.stdout.closed) throw new Error(`the server ended with ${child.exitCode}:\n${output}`)
        await wait(5)
      }
    },
    async stop(signal = 'SIGTERM') {
      child.kill(signal)
      await exit
      // Its last lines may still be in the pipe, even if the test stopped reading.
      child.stdout.resume()
      await closed
      await rm(folder, { recursive: true, force: true })
      assertDiscreet(options.includes('--dev') ? logIn(output) : output)
      return child.exitCode
    },
  }
}

/** Without the banner of development, which shows the demo passwords on purpose. */
function logIn(output: string): string {
  return output
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .join('\n')
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  if (typeof address !== 'object' || address === null) throw new Error('no port')
  return address.port
}
