import { execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'

const has = (program: string) =>
  process.platform === 'linux' && spawnSync(program, ['--version']).status === 0

/** `skip` options of tests: false, or why they are skipped. */
export const withoutLimits = has('prlimit') ? false : 'needs prlimit of util-linux'
export const withoutStrace = has('strace') ? false : 'needs strace'

/** Undoes a fault; resolves once it is over. */
export type Mend = () => Promise<void>

/** Limits the files of the process to this many bytes: writes beyond fail. */
export async function limitFiles(pid: number, bytes: number): Promise<Mend> {
  const set = (limit: number | string) =>
    promisify(execFile)('prlimit', ['--pid', String(pid), `--fsize=${limit}:unlimited`])
  await set(bytes)
  return async () => void (await set('unlimited'))
}

/** Makes system calls fail in all threads of the process, such as `fdatasync` with `EIO`. */
export async function failCalls(pid: number, calls: string, error: string): Promise<Mend> {
  const inject = `inject=${calls}:error=${error}`
  const child = spawn('strace', ['-f', '-o', '/dev/null', '-e', inject, '-p', String(pid)], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const [line] = (await Promise.race([
    once(createInterface({ input: child.stderr }), 'line'),
    once(child, 'exit').then(([code]) => [`strace ended with ${code}`]),
  ])) as [string]
  if (!line.includes('attached')) throw new Error(line)
  return async () => {
    if (child.exitCode !== null) throw new Error(`strace ended with ${child.exitCode}`)
    const exit = once(child, 'exit')
    child.kill('SIGINT')
    await exit
  }
}
