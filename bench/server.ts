import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, ftruncateSync, openSync } from 'node:fs'
import { createServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { ProbeMessage, Usage } from './usage.ts'

const startLimitMilliseconds = 60_000
/** Short if the start is measured. A request without an answer costs half a millisecond. */
const pollMilliseconds = { measured: 2, otherwise: 20 }

export interface ServerOptions {
  /** The program that this Node runs, and its arguments. */
  args: string[]
  env: Record<string, string>
  folder: string
  /** Requested until it answers 200. */
  readyPath: string
  /** Without the probe, the process is exactly what an operator starts. */
  probe?: boolean
  /** A program that runs Node, and its arguments. */
  launcher?: string[]
}

/** A server in a separate process, on a free port of loopback, whose log goes to a file. */
export class MeasuredServer {
  readonly port: number
  /** From the start of the process to its first answer. */
  readonly startMilliseconds: number
  readonly #child: ChildProcess
  readonly #log: number

  static async start(options: ServerOptions): Promise<MeasuredServer> {
    const port = await freePort()
    const log = openSync(`${options.folder}/server-${port}.log`, 'a', 0o600)
    const probe = options.probe === false ? [] : ['--import', new URL('./probe.mjs', import.meta.url).href]
    const startedAt = performance.now()
    const [program = '', ...args] = [...(options.launcher ?? []), process.execPath, ...probe, ...options.args]
    const child = spawn(program, args, {
      cwd: options.folder,
      env: { PATH: process.env.PATH, ...options.env, PORT: String(port) },
      stdio: ['ignore', log, 'inherit', 'ipc'],
    })
    const poll = options.probe === false ? pollMilliseconds.measured : pollMilliseconds.otherwise
    await untilReady(child, `http://127.0.0.1:${port}${options.readyPath}`, poll)
    return new MeasuredServer(child, port, performance.now() - startedAt, log)
  }

  private constructor(child: ChildProcess, port: number, startMilliseconds: number, log: number) {
    this.#child = child
    this.port = port
    this.startMilliseconds = startMilliseconds
    this.#log = log
  }

  /** What is written to the log is thrown away here: at full load it would be gigabytes. */
  usage(): Promise<Usage> {
    ftruncateSync(this.#log)
    return this.#ask('usage')
  }

  /** From now on, `usage` includes how late the event loop was. */
  watch(): Promise<Usage> {
    return this.#ask('watch')
  }

  async #ask(message: ProbeMessage): Promise<Usage> {
    const answer = once(this.#child, 'message')
    this.#child.send(message)
    const [usage] = await answer
    return usage
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      const exit = once(this.#child, 'exit')
      this.#child.kill('SIGTERM')
      await exit
    }
    closeSync(this.#log)
  }
}

async function untilReady(child: ChildProcess, url: string, pollMilliseconds: number): Promise<void> {
  const giveUpAt = performance.now() + startLimitMilliseconds
  while (performance.now() < giveUpAt) {
    if (child.exitCode !== null) throw new Error(`a server ended with ${child.exitCode}`)
    const answer = await fetch(url).catch(() => undefined)
    await answer?.arrayBuffer()
    if (answer?.status === 200) return
    await delay(pollMilliseconds)
  }
  child.kill('SIGKILL')
  throw new Error('a server did not answer')
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (typeof address !== 'object' || address === null) throw new Error('no port')
  return address.port
}

export function fileOf(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url))
}
