import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { quickStart } from '../support/process.ts'

const main = new URL('../../server/main.ts', import.meta.url).pathname

/** Shorter than the time limit of a test, so a hanging command is killed and its status fails the test. */
const hangMilliseconds = 240_000

/** A password that follows every rule. */
export const goodPassword = 'tuba lantern ocelot 7'

export interface Result {
  status: number | null
  stdout: string
  stderr: string
}

export interface CommandLine {
  folder: string
  databaseFile: string
  /** Runs the command in the folder; `input` is its whole standard input. */
  run(args: string, input?: string | Buffer, env?: Record<string, string>): Promise<Result>
  /** Runs it with --json and returns the value; fails when the command does. */
  json<T>(args: string, input?: string): Promise<T>
  /** The log lines of its commands. */
  log: Record<string, unknown>[]
  /** The database itself, to set up and to inspect. */
  sql<T>(query: (database: Sqlite.Database) => T): T
  exec(statements: string): void
  change(statement: string, ...values: unknown[]): void
  rows<Row>(query: string, ...values: unknown[]): Row[]
  /** The first column of each row, or of the first row. */
  column(query: string, ...values: unknown[]): unknown[]
  value(query: string, ...values: unknown[]): unknown
}

/** An empty folder with its own database address, removed after the test. */
export function commandLine(t: { after(hook: () => void): void }): CommandLine {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-cli-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const databaseFile = join(folder, 'test.db')
  const log: CommandLine['log'] = []
  const run: CommandLine['run'] = async (
    args,
    input = '',
    env = { DATABASE_URL: `file:${databaseFile}` },
  ) => {
    const bytes = Buffer.from(input).toString('latin1')
    return withoutLog(await callCommand({ args: wordsOf(args), input: bytes, folder, env }), log)
  }
  const sql: CommandLine['sql'] = (query) => {
    const database = new Sqlite(databaseFile)
    try {
      return query(database)
    } finally {
      database.close()
    }
  }
  return {
    folder,
    databaseFile,
    run,
    log,
    sql,
    exec: (text) => void sql((database) => database.exec(text)),
    change: (text, ...values) => void sql((database) => database.prepare(text).run(...values)),
    rows: <Row>(text: string, ...values: unknown[]) =>
      sql((database) => database.prepare<unknown[], Row>(text).all(...values)),
    column: (text, ...values) =>
      sql((database) =>
        database
          .prepare(text)
          .pluck()
          .all(...values),
      ),
    value: (text, ...values) =>
      sql((database) =>
        database
          .prepare(text)
          .pluck()
          .get(...values),
      ),
    async json(args, input) {
      const { status, stdout, stderr } = await run(`${args} --json`, input)
      if (status !== 0) throw new Error(`${args}: exit status ${status}: ${stderr}`)
      return JSON.parse(stdout)
    },
  }
}

export interface CommandCall {
  args: string[]
  /** One character for each byte. */
  input: string
  folder: string
  env: Record<string, string>
}

let host: ChildProcess | undefined
let lastCall: Promise<unknown> = Promise.resolve()

/** Uses one process for all commands of a test file: starting Node is three quarters of a command's cost. */
function callCommand(call: CommandCall): Promise<Result> {
  const answer = lastCall.then(async () => {
    host ??= startHost()
    host.ref()
    host.channel?.ref()
    host.send(call)
    const [result] = await once(host, 'message')
    host.unref()
    host.channel?.unref()
    return result as Result
  })
  lastCall = answer
  return answer
}

/** If it ended before this process, a pending answer would never come. */
function startHost(): ChildProcess {
  const env = { ...quickStart, ...process.env }
  return fork(new URL('./command-host.ts', import.meta.url), { env, execArgv: [] }).once('exit', (code) => {
    throw new Error(`the process of the commands ended with ${code}`)
  })
}

const wordsOf = (args: string) => args.split(' ').filter((word) => word !== '')

/** Separates log lines, which also go to standard error, from what a command says. */
function withoutLog(result: Result, log: CommandLine['log'] = []): Result {
  const lines = result.stderr.split(/(?<=\n)/)
  const isOfLog = (line: string) => line.startsWith('{"level":')
  log.push(...lines.filter(isOfLog).map((line) => JSON.parse(line)))
  return { ...result, stderr: lines.filter((line) => !isOfLog(line)).join('') }
}

/** File modes do not stop root, which can run a command as this account. */
export const unprivileged = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}

/** Runs a command in a new process, without this process's environment. */
export function runCommand(
  args: string,
  input: string,
  folder: string,
  env: Record<string, string> = {},
  account: { uid?: number; gid?: number } = {},
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [main, ...wordsOf(args)], {
      ...account,
      cwd: folder,
      env: { ...quickStart, ...env },
      timeout: hangMilliseconds,
    })
    let stdout = ''
    let stderr = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text
    })
    // A command that needs no input may end before it is written.
    child.stdin.on('error', () => undefined)
    child.stdin.end(input)
    child.on('error', reject)
    child.on('close', (status) => resolve(withoutLog({ status, stdout, stderr })))
  })
}

/** The result of a refused command: nothing on standard output, one line on standard error. */
export function refusal(line: string): Result {
  return { status: 1, stdout: '', stderr: `countersign: ${line}\n` }
}
