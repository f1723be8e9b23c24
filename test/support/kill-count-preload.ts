import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import Sqlite from 'better-sqlite3'

// Counts calls that may change files, and kills the process before the one with the number KILL_BEFORE.
const files = fs as unknown as Record<string, (...args: unknown[]) => unknown>
const databases = Sqlite.prototype as unknown as Record<string, (...args: unknown[]) => unknown>
let calls = 0
for (const [owner, names] of [
  [files, ['linkSync', 'renameSync', 'rmSync', 'fsyncSync']],
  [databases, ['pragma', 'exec', 'backup', 'close']],
] as const) {
  for (const name of names) {
    const call = owner[name] as (...args: unknown[]) => unknown
    owner[name] = function (this: unknown, ...args: unknown[]) {
      calls += 1
      if (calls === Number(process.env.KILL_BEFORE)) process.kill(process.pid, 'SIGKILL')
      return call.apply(this, args)
    }
  }
}
syncBuiltinESMExports()
