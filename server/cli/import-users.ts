import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { roleNames } from '../auth/accounts/roles/store.ts'
import { foldName } from '../auth/accounts/store.ts'
import { findHolders, type ImportedUser } from '../auth/accounts/users/import/store.ts'
import { linkAddress } from '../auth/accounts/users/links.ts'
import { systemClock } from '../clock.ts'
import { readPublicUrl } from '../config.ts'
import type { AppDatabase } from '../db/port.ts'
import { newOrderedId, newSecret, sha256 } from '../ids.ts'
import { type Invocation, type Outcome, requiredArgument } from './command.ts'
import { commandStamp, withDatabase } from './database.ts'
import { Refused } from './failures.ts'
import { type Fault, UserRules } from './imported-user.ts'
import { grouped, progressPrinter } from './output.ts'
import { readUsers } from './user-file.ts'

/** Users that one transaction adds. A running service writes in the pauses between them. */
const batchUsers = 1_000
const pauseMilliseconds = 20
const namedFaults = 100

/** A user of the file, and the line where it stands. */
interface Placed {
  line: number
  user: ImportedUser
}

interface Checked {
  users: number
  existing: number
}

/**
 * Adds the users of a file. First the whole file is checked, and a single bad line refuses it; then the
 * users are added in batches. A user who already exists with this name and email is left unchanged, so
 * running an interrupted import again continues it.
 */
export async function runImportUsers(invocation: Invocation): Promise<Outcome> {
  const file = requiredArgument(invocation, 0, 'the file')
  const isDryRun = invocation.switches.has('dry-run')
  const publicUrl = invocation.texts.links === undefined ? '' : readPublicUrl(process.env, invocation)
  return withDatabase(invocation, async (db) => {
    const report = progressPrinter(invocation.switches.has('json'), describeProgress)
    const { users, existing } = await check(db, file, (rows) => report({ phase: 'checked', rows }))
    if (isDryRun) {
      return {
        value: { users, existing, added: 0 },
        text: `Every line is valid. Users to add: ${grouped(users - existing)}; already there: ${grouped(existing)}.`,
      }
    }
    const links = new LinkFile(invocation.texts.links, publicUrl)
    try {
      const added = await addAll(db, file, links, (rows) => report({ phase: 'added', rows }))
      return {
        value: { users, existing: users - added, added, ...(links.isWanted && { links: links.count }) },
        text: `Users added: ${grouped(added)}; already there: ${grouped(users - added)}.${links.describe()}`,
      }
    } finally {
      links.close()
    }
  })
}

function describeProgress({ phase, rows }: { phase: 'checked' | 'added'; rows: number }): string {
  return `${phase} ${grouped(rows)} users`
}

/** Throws `Refused` with every line that is wrong. Nothing is written. */
async function check(db: AppDatabase, file: string, report: (rows: number) => void): Promise<Checked> {
  const rules = new UserRules(await roleNames(db.read))
  const faults = new Faults(file)
  const checked = { users: 0, existing: 0 }
  for await (const batch of batchesOf(file, rules, (fault) => faults.add(fault))) {
    const { existing, taken } = await compare(db, batch)
    for (const fault of taken) faults.add(fault)
    checked.users += batch.length
    checked.existing += existing
    report(checked.users)
  }
  faults.throwIfAny()
  return checked
}

async function addAll(
  db: AppDatabase,
  file: string,
  links: LinkFile,
  report: (rows: number) => void,
): Promise<number> {
  let added = 0
  let done = 0
  const rules = new UserRules(await roleNames(db.read))
  const refuse = ({ line, rule }: Fault) => {
    throw new Refused('bad-file', `${file}:${line} ${rule}`)
  }
  try {
    for await (const batch of batchesOf(file, rules, refuse)) {
      const { added: users, taken } = await compare(db, batch)
      for (const fault of taken) refuse(fault)
      await addBatch(
        db,
        users.map(({ user }) => user),
      )
      await links.add(
        db,
        batch.map(({ user }) => user),
      )
      added += users.length
      done += batch.length
      report(done)
      await wait(pauseMilliseconds)
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    const message = `stopped after ${grouped(added)} users (run it again to continue): ${reason}`
    throw new Refused('import-stopped', message, { cause: error })
  }
  return added
}

async function addBatch(db: AppDatabase, users: ImportedUser[]): Promise<void> {
  if (users.length === 0) return
  const now = systemClock()
  const withEvents = users.map((user) => ({ ...user, eventId: newOrderedId(now) }))
  await db.write('addUsers', { users: withEvents, stamp: commandStamp() })
  // Otherwise the service would start with a million events to seal.
  await db.write('sealEvents', { limit: 2 * batchUsers })
}

async function* batchesOf(
  file: string,
  rules: UserRules,
  refuse: (fault: Fault) => void,
): AsyncGenerator<Placed[]> {
  let batch: Placed[] = []
  for await (const record of readUsers(file)) {
    const user = rules.read(record, refuse)
    if (user !== undefined) batch.push({ line: record.line, user })
    if (batch.length === batchUsers) {
      yield batch
      batch = []
    }
  }
  if (batch.length > 0) yield batch
}

interface Comparison {
  added: Placed[]
  existing: number
  taken: Fault[]
}

/** Which users of the batch are new, how many exist, and which have someone else's name or email. */
async function compare(db: AppDatabase, batch: Placed[]): Promise<Comparison> {
  const holders = await findHolders(
    db.read,
    batch.map(({ user }) => user),
  )
  const emailOf = new Map(holders.map(({ foldedName, email }) => [foldedName, email]))
  const emails = new Set(holders.map(({ email }) => email))
  const result: Comparison = { added: [], existing: 0, taken: [] }
  for (const placed of batch) {
    const { line, user } = placed
    const name = foldName(user.userName)
    const taken = [
      ...(emailOf.has(name) ? (['name'] as const) : []),
      ...(emails.has(user.email) ? (['email'] as const) : []),
    ]
    if (taken.length === 0) result.added.push(placed)
    else if (emailOf.get(name) === user.email) result.existing += 1
    else result.taken.push(...taken.map((field) => ({ line, field, rule: 'is that of another account' })))
  }
  return result
}

/** Counts all faults and names the first. */
class Faults {
  readonly #file: string
  readonly #first: Fault[] = []
  #count = 0

  constructor(file: string) {
    this.#file = file
  }

  add(fault: Fault): void {
    this.#count += 1
    if (this.#first.length < namedFaults) this.#first.push(fault)
  }

  throwIfAny(): void {
    if (this.#count === 0) return
    const first = this.#first.toSorted((one, other) => one.line - other.line)
    const lines = first.map(
      ({ line, field, rule }) => `  line ${line}: ${field === null ? '' : `${field} `}${rule}`,
    )
    const more = this.#count > first.length ? [`  and ${grouped(this.#count - first.length)} more`] : []
    const message = `${this.#file} has ${grouped(this.#count)} faults; nothing was written:\n${[...lines, ...more].join('\n')}`
    throw new Refused('bad-users', message, { members: { count: this.#count, faults: first } })
  }
}

/** One-time links for users without a password, as CSV in a new file that only its owner may read. */
class LinkFile {
  readonly #publicUrl: string
  readonly #file: number | undefined
  count = 0

  constructor(file: string | undefined, publicUrl: string) {
    this.#publicUrl = publicUrl
    if (file === undefined) return
    this.#file = openSync(file, 'wx', 0o600)
    writeSync(this.#file, 'name,link\r\n')
  }

  get isWanted(): boolean {
    return this.#file !== undefined
  }

  describe(): string {
    return this.isWanted ? ` Links written: ${grouped(this.count)}, each for one use within 24 hours.` : ''
  }

  async add(db: AppDatabase, users: ImportedUser[]): Promise<void> {
    const wanted = users.filter(({ passwordHash }) => passwordHash === null)
    if (this.#file === undefined || wanted.length === 0) return
    const now = systemClock()
    const tokens = new Map(wanted.map(({ email }) => [email, newSecret()]))
    const links = [...tokens].map(([email, token]) => ({
      email,
      tokenHash: sha256(token),
      eventId: newOrderedId(now),
    }))
    const made = new Set(await db.write('makeLinks', { links, stamp: commandStamp() }))
    await db.write('sealEvents', { limit: 2 * batchUsers })
    const lines = wanted.flatMap(({ userName, email }) =>
      made.has(email)
        ? [`${userName},${linkAddress(this.#publicUrl, { token: tokens.get(email) ?? '', email })}\r\n`]
        : [],
    )
    writeSync(this.#file, lines.join(''))
    this.count += lines.length
  }

  close(): void {
    if (this.#file === undefined) return
    fsyncSync(this.#file)
    closeSync(this.#file)
  }
}
