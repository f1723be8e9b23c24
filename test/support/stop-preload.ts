import { writeSync } from 'node:fs'
import Sqlite from 'better-sqlite3'
import pg from 'pg'

// Stops the process, or sends it STOP_SIGNAL, before the first statement that contains STOP_BEFORE, or the
// STOP_COUNT-th on PostgreSQL, and says so. SQLite prepares each statement once, so there the first counts.
const { STOP_BEFORE = '', STOP_COUNT = '1', STOP_SIGNAL = 'SIGSTOP' } = process.env
let count = 0

function reached(statement: string): void {
  if (!statement.includes(STOP_BEFORE)) return
  count += 1
  if (count !== Number(STOP_COUNT)) return
  writeSync(1, 'stopped\n')
  process.kill(process.pid, STOP_SIGNAL)
}

const prepare = Sqlite.prototype.prepare as (this: Sqlite.Database, source: string) => Sqlite.Statement
Sqlite.prototype.prepare = function (this: Sqlite.Database, source: string) {
  reached(source)
  return prepare.call(this, source)
} as typeof Sqlite.prototype.prepare

const exec = Sqlite.prototype.exec as (this: Sqlite.Database, source: string) => Sqlite.Database
Sqlite.prototype.exec = function (this: Sqlite.Database, source: string) {
  reached(source)
  return exec.call(this, source)
} as typeof Sqlite.prototype.exec

const query = pg.Client.prototype.query as (this: pg.Client, ...args: unknown[]) => unknown
pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
  reached(String((args[0] as { text?: string }).text ?? args[0]))
  return query.apply(this, args)
} as typeof pg.Client.prototype.query
