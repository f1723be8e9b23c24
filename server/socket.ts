import { chmodSync, existsSync, lstatSync, renameSync, rmSync, type Stats } from 'node:fs'
import { connect } from 'node:net'
import { dirname } from 'node:path'
import { ConfigurationError } from './config.ts'
import type { App } from './http/route.ts'

/** For the owner and the group: anyone who can connect is trusted to name the address of a caller. */
const mode = 0o660

/**
 * Listens at a socket in the file system. One that a killed process left is replaced. Returns what removes
 * the socket, unless another process has put one in its place. Throws `ConfigurationError` if the path is in
 * use.
 */
export async function listenAtSocket(path: string, app: App): Promise<() => void> {
  const folder = dirname(path)
  if (!existsSync(folder)) throw refusal(`there is no folder ${folder}`)
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found !== undefined && !found.isSocket()) throw refusal(`${path} exists and is no socket`)
  if (found !== undefined && (await answers(path))) throw refusal(`another process listens at ${path}`)
  // Nobody can connect before the mode is set, and no moment is without a socket.
  const made = `${path}.${process.pid}`
  try {
    await app.listen({ path: made, listenTextResolver: () => `listening at unix:${path}` })
    chmodSync(made, mode)
    renameSync(made, path)
  } catch (error) {
    throw refusal(`cannot listen at ${path} (${(error as NodeJS.ErrnoException).code})`)
  }
  const own = lstatSync(path)
  return () => {
    const now = lstatSync(path, { throwIfNoEntry: false })
    if (now !== undefined && isSame(now, own)) rmSync(path, { force: true })
  }
}

const refusal = (reason: string) => new ConfigurationError([`HOST: ${reason}`])

const isSame = (one: Stats, other: Stats) => one.ino === other.ino && one.dev === other.dev

function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path)
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}
