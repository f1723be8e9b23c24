import { textCell } from '../../../rules/cell.ts'
import { roleNames } from '../../auth/accounts/roles/store.ts'
import { foldName } from '../../auth/accounts/store.ts'
import { linkAddress } from '../../auth/accounts/users/links.ts'
import { findTaken } from '../../auth/accounts/users/store.ts'
import type { AddUserInput } from '../../auth/accounts/users/users.ts'
import { AddUserCommand } from '../../auth/routes/administration/schemas.ts'
import { systemClock } from '../../clock.ts'
import { readPublicUrl } from '../../config.ts'
import type { AppDatabase } from '../../db/port.ts'
import { parseBy } from '../../http/fields.ts'
import { newOrderedId, newSecret, sha256 } from '../../ids.ts'
import { sendsMail } from '../../mail/mail.ts'
import { type Invocation, type Outcome, requiredArgument } from '../command.ts'
import { commandStamp, withDatabase } from '../database.ts'
import { describeFailure, Refused } from '../failures.ts'
import { grouped, progressPrinter, withNewFile } from '../output.ts'
import { type CsvRecord, readCsv } from './csv.ts'
import { nameFromEmail, spell } from './named.ts'

const usersLimit = 1_000
const faultsShown = 50
const columns = ['email', 'userName', 'roles', 'timeZone']

/** A row of the file, as `POST /v1/users` reads it. */
type User = Pick<AddUserInput, 'email' | 'userName' | 'roles' | 'timeZone'>

/**
 * Adds the users of a CSV file, each with a one-time link. All rows are checked before the first user is
 * added. Users whose email exists stay as they are, so the same file can be given again.
 */
export async function runInvite(invocation: Invocation): Promise<Outcome> {
  const file = requiredArgument(invocation, 0, 'the file')
  const { links } = invocation.texts
  const publicUrl = links === undefined ? '' : readPublicUrl(process.env, invocation)
  const records = await readCsv(file)
  return withDatabase(invocation, async (db) => {
    if (links === undefined) await requireMail(db)
    const { users, existing } = await judge(db, file, records)
    const add = (writeLink: (text: string) => void) =>
      addAll(db, users, invocation.switches.has('json'), (token, { email }) =>
        writeLink(`${textCell(email)},${linkAddress(publicUrl, { token, email })}\r\n`),
      )
    if (links === undefined || users.length === 0) await add(() => undefined)
    else await withNewFile(links, 'email,link\r\n', add)
    const sent = links === undefined ? 'each is mailed a link' : `their links are in ${links}`
    const there =
      existing.length === 0 ? '' : `\nThese exist and were left as they are: ${existing.join(', ')}.`
    return {
      value: { added: users.map(({ email }) => email), existing },
      text:
        users.length === 0
          ? `Nobody was added.${there}`
          : `Users added: ${grouped(users.length)}; ${sent}, for one use within 24 hours.${there}`,
    }
  })
}

/** The service mails links that were made after it first ran with SMTP_URL. */
async function requireMail(db: AppDatabase): Promise<void> {
  if (process.env.SMTP_URL && (await sendsMail(db.read))) return
  throw new Refused(
    'no-mail',
    'the service sends no mail (SMTP_URL): give --links FILE, a new file for the links',
  )
}

/** The users to add, and the emails that exist. Throws `Refused` naming every row that breaks a rule. */
async function judge(
  db: AppDatabase,
  file: string,
  [head, ...records]: CsvRecord[],
): Promise<{ users: User[]; existing: string[] }> {
  const headings = head?.cells ?? []
  const isFaulty = headings.some((name, at) => !columns.includes(name) || headings.indexOf(name) < at)
  if (isFaulty || !headings.includes('email')) {
    const known = 'email, and if needed userName, roles, timeZone'
    throw new Refused('bad-file', `${file} must begin with a line of headings: ${known}`)
  }
  if (records.length > usersLimit) {
    const counts = `${grouped(records.length)} users; the limit is ${grouped(usersLimit)}`
    throw new Refused('bad-file', `${file} has ${counts}`)
  }
  const roles = await roleNames(db.read)
  const faults: string[] = []
  const lines = new Map<string, number>()
  const users = records.flatMap(({ line, cells }) => {
    const user = readUser(headings, cells, roles, (fault) => faults.push(`line ${line}: ${fault}`))
    if (user === undefined) return []
    for (const key of [`email ${user.email}`, `userName ${foldName(user.userName)}`]) {
      const first = lines.get(key)
      if (first === undefined) lines.set(key, line)
      else faults.push(`line ${line}: ${key} is already on line ${first}`)
    }
    return [user]
  })
  const taken = await findTaken(db.read, users)
  const { fresh = [], existing = [] } = Object.groupBy(users, ({ email }) =>
    taken.emails.has(email) ? 'existing' : 'fresh',
  )
  for (const { userName } of fresh.filter((user) => taken.names.has(foldName(user.userName)))) {
    faults.push(`line ${lines.get(`userName ${foldName(userName)}`)}: userName ${userName} is taken`)
  }
  if (faults.length > 0) {
    const listed = [...faults.slice(0, faultsShown), ...(faults.length > faultsShown ? ['...'] : [])]
    const message = `${file} has ${grouped(faults.length)} faults; nobody was added:`
    throw new Refused('bad-users', [message, ...listed].join('\n  '), { members: { faults } })
  }
  return { users: fresh, existing: existing.map(({ email }) => email) }
}

/** A user by the rules of the API; undefined after `refuse`. An empty cell counts as left out. */
function readUser(
  headings: string[],
  cells: string[],
  roles: readonly string[],
  refuse: (fault: string) => void,
): User | undefined {
  try {
    if (cells.length !== headings.length) {
      throw new Refused('bad-row', `has ${cells.length} cells instead of ${headings.length}`)
    }
    const given = Object.fromEntries(headings.map((name, at) => [name, cells[at]]).filter(([, text]) => text))
    const named = (given.roles ?? '').split(/[,; ]+/).filter((role: string) => role !== '')
    const userName = nameFromEmail((given.email ?? '').toLowerCase())
    return parseBy(AddUserCommand, { userName, ...given, roles: spell('role', named, roles) })
  } catch (error) {
    const { code, message } = describeFailure(error)
    if (code === 'internal-error') throw error
    refuse(message)
    return undefined
  }
}

/**
 * Adds the users one by one. Each link is written before its user is added, so a killed command leaves no
 * user without a link. A signal stops it after the current user.
 */
async function addAll(
  db: AppDatabase,
  users: User[],
  isJson: boolean,
  writeLink: (token: string, user: User) => void,
): Promise<void> {
  const stop = new AbortController()
  const onSignal = () => stop.abort(new Error('interrupted'))
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal)
  const of = grouped(users.length)
  const report = progressPrinter(
    isJson,
    ({ added }: { added: number }) => `added ${grouped(added)} of ${of} users`,
  )
  let added = 0
  try {
    for (const user of users) {
      stop.signal.throwIfAborted()
      const token = newSecret()
      writeLink(token, user)
      const linkEventId = newOrderedId(systemClock())
      await db.write('inviteUser', { ...user, tokenHash: sha256(token), linkEventId, stamp: commandStamp() })
      added += 1
      report({ added })
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    const message = `stopped after ${grouped(added)} of ${of} users (${reason}); give the same file again to continue`
    throw new Refused('invite-stopped', message, {
      cause: error,
      members: { added: users.slice(0, added).map(({ email }) => email) },
    })
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal)
  }
}
