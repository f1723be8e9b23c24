import { writeSync } from 'node:fs'
import Sqlite from 'better-sqlite3'

// Stops the process, as SIGSTOP does, before the first statement that contains STOP_BEFORE, and says so.
const prepare = Sqlite.prototype.prepare as (this: Sqlite.Database, source: string) => Sqlite.Statement
Sqlite.prototype.prepare = function (this: Sqlite.Database, source: string) {
  if (source.includes(process.env.STOP_BEFORE ?? '')) {
    writeSync(1, 'stopped\n')
    process.kill(process.pid, 'SIGSTOP')
  }
  return prepare.call(this, source)
} as typeof Sqlite.prototype.prepare
