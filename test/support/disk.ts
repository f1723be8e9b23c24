import { execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { until } from './stream.ts'

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
    process.kill(pid, 'SIGSTOP')
    try {
      await endOfCalls(pid, child.pid ?? 0)
      child.kill('SIGINT')
      await exit
    } finally {
      process.kill(pid, 'SIGCONT')
    }
  }
}

/**
 * Resolves once every thread of a process has stopped after SIGSTOP and strace has nothing left to
 * do. A call that strace let go of half-way would fail with ENOSYS.
 */
async function endOfCalls(pid: number, stracePid: number): Promise<void> {
  const isStopped = (task: string) => /^[tT]$/.test(stateOf(`${pid}/task/${task}`))
  await until(() => readdirSync(`/proc/${pid}/task`).every(isStopped) && stateOf(String(stracePid)) === 'S')
}

/** The letter that proc(5) has for what a process or thread does, such as `S` for asleep. */
function stateOf(path: string): string {
  const stat = readFileSync(`/proc/${path}/stat`, 'utf8')
  return stat[stat.lastIndexOf(')') + 2] ?? ''
}
