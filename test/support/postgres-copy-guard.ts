import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rm, stat } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import pg from 'pg'

/**
 * A separate process. It runs the programs of its first argument on the folder `data` of its second, and
 * prints the address once the server answers. When its standard input closes, it removes the folder. It ends
 * with 1 when the server ends by itself.
 */
const [native = '', folder = ''] = process.argv.slice(2)
const data = join(folder, 'data')

async function main(): Promise<void> {
  const { uid, gid } = await stat(data)
  const account = process.getuid?.() === 0 ? { uid, gid } : {}
  const port = await freePort()
  const settings = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'max_connections=200']
  const flags = settings.flatMap((setting) => ['-c', setting])
  const server = spawn(join(native, 'bin', 'postgres'), ['-D', data, '-p', String(port), ...flags], {
    ...account,
    cwd: data,
    stdio: ['ignore', 'ignore', process.env.DEBUG_POSTGRES ? 'inherit' : 'ignore'],
  })
  let isTold = false
  const leave = () => {
    isTold = true
    server.kill('SIGQUIT')
  }
  process.stdin.on('close', leave).on('error', leave).resume()
  process.on('SIGTERM', leave).on('SIGINT', leave)
  const ended = once(server, 'exit')
  const url = `postgres://countersign@127.0.0.1:${port}/postgres`
  while (server.exitCode === null && !(await answers(url))) {
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  if (server.exitCode === null) process.stdout.write(`${url}\n`)
  await ended
  await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  process.exit(isTold ? 0 : 1)
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

/** True once recovery is over. */
async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url })
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

await main()
