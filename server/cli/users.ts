import { setTimeout as wait } from 'node:timers/promises'
import { requireAccount } from '../auth/accounts/accounts.ts'
import { isAccountName, normalizeEmail } from '../auth/accounts/names.ts'
import { linkAddress } from '../auth/accounts/users/links.ts'
import type { UserAccount } from '../auth/accounts/users/store.ts'
import { Passwords } from '../auth/credentials/passwords/passwords.ts'
import { formatInstant, parseTimeZone } from '../clock.ts'
import { readPublicUrl } from '../config.ts'
import { newSecret, sha256 } from '../ids.ts'
import { namedUser, rolesCell, runList, stateCell } from './accounts.ts'
import type { Invocation, Outcome } from './command.ts'
import { commandStamp, withDatabase } from './database.ts'
import { Refused, UsageError } from './failures.ts'
import { readNewPassword } from './new-password.ts'
import { spellRoles } from './roles.ts'

export async function runAddUser(invocation: Invocation): Promise<Outcome> {
  const { userName, email, timeZone } = newUser(invocation)
  const isInvited = invocation.switches.has('invite')
  return withDatabase(invocation, async (db) => {
    const roles = await spellRoles(db, invocation.lists.role ?? [])
    const passwordHash = isInvited ? null : await newPasswordHash([userName, email])
    const user = { userName, email, passwordHash, timeZone, roles, stamp: commandStamp() }
    const { id } = await db.write('addUser', user)
    const has =
      roles.length === 0 ? 'no roles' : `${roles.length === 1 ? 'role' : 'roles'} ${roles.join(', ')}`
    return {
      value: { id, userName, email, roles, timeZone, enabled: true },
      text: `Added user ${userName} (${email}), id ${id}, ${has}.`,
      ...hintFor(roles, isInvited),
    }
  })
}

function hintFor(roles: string[], isInvited: boolean): { hint?: string } {
  if (isInvited) return { hint: 'The user has no password yet: `user link` prints a link for setting one.' }
  if (roles.length > 0) return {}
  return { hint: 'Without a role the user can sign in but do nothing (user grant).' }
}

function newUser(invocation: Invocation) {
  const { email, userName } = newNames(invocation)
  const normalized = normalizeEmail(email)
  if (normalized === undefined) {
    throw new Refused('invalid-email', 'an email has 3 to 254 characters, with one @ inside and no spaces')
  }
  const name = userName ?? nameFromEmail(normalized)
  if (!isAccountName(name)) {
    throw new Refused(
      'invalid-user-name',
      'a user name starts with a letter and has at most 64 letters, digits and . _ - (give --user-name)',
    )
  }
  const given = invocation.texts['time-zone']
  const timeZone = given === undefined ? null : parseTimeZone(given)
  if (timeZone === undefined) {
    throw new Refused('invalid-time-zone', 'a time zone is an IANA name such as Europe/Berlin')
  }
  return { userName: name, email: normalized, timeZone }
}

/** An argument with an @ is the email, another one the user name. */
function newNames({ positionals: [argument], texts }: Invocation) {
  const { email, 'user-name': userName } = texts
  const isEmail = argument?.includes('@') === true
  if (argument !== undefined && (isEmail ? email : userName) !== undefined) {
    throw new UsageError(`the ${isEmail ? 'email' : 'user name'} is given twice`)
  }
  const emailGiven = isEmail ? argument : email
  if (emailGiven === undefined) throw new UsageError('the email is missing')
  return { email: emailGiven, userName: isEmail ? userName : (argument ?? userName) }
}

/** Turns the part before the @ into the closest valid user name. */
export function nameFromEmail(email: string): string {
  return email
    .slice(0, email.indexOf('@'))
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[^A-Za-z]+|[._-]+$/g, '')
    .slice(0, 64)
}

export const runListUsers = runList<UserAccount>({
  find: (db, wanted, options) => db.query('findUsers', wanted, options),
  headings: ['ID', 'USER NAME', 'EMAIL', 'ROLES', 'TIME ZONE', 'STATE'],
  cellsOf: (user) => [
    String(user.id),
    user.userName,
    user.email,
    rolesCell(user),
    user.timeZone ?? '-',
    stateCell(user) + (user.hasPassword ? '' : ', no password'),
  ],
  toValue: ({ version: _, createdAt, ...user }) => ({ ...user, createdAtUtc: formatInstant(createdAt) }),
})

export async function runSetPassword(invocation: Invocation): Promise<Outcome> {
  const { account } = namedUser(invocation)
  const { name } = await withDatabase(invocation, async (db) => {
    const { id, name, email } = await requireAccount(db.read, account)
    const passwordHash = await newPasswordHash([name, email ?? ''])
    // Uses the id, because the user may have been renamed in the meantime.
    return db.write('setPassword', { account: { kind: 'user', id }, passwordHash, stamp: commandStamp() })
  })
  return {
    value: { userName: name },
    text: `${name} has a new password; sessions and tokens have ended.`,
  }
}

async function newPasswordHash(names: string[]): Promise<string> {
  return new Passwords().hash(await readNewPassword(names))
}

/** Prints the link. It can be shown only now, because its token is stored as a hash. */
export async function runLink(invocation: Invocation): Promise<Outcome> {
  const { account } = namedUser(invocation)
  const publicUrl = readPublicUrl(process.env, invocation)
  const token = newSecret()
  const made = await withDatabase(invocation, (db) =>
    db.write('makeLink', { account, tokenHash: sha256(token), stamp: commandStamp() }),
  )
  const link = linkAddress(publicUrl, { token, email: made.email })
  const expiresAtUtc = formatInstant(made.expiresAt)
  return {
    value: { userName: made.name, link, expiresAtUtc },
    text: link,
    hint: `${made.name} sets a password with it, once, until ${expiresAtUtc}. Earlier links no longer work.`,
  }
}

/** Users that one transaction of `--all` handles. A running service writes in the pauses between them. */
const batchUsers = 500
const pauseMilliseconds = 20

export async function runSignOut(invocation: Invocation): Promise<Outcome> {
  if (invocation.switches.has('all')) return signOutAll(invocation)
  const { account } = namedUser(invocation)
  const { name } = await withDatabase(invocation, (db) =>
    db.write('signOutUser', { account, stamp: commandStamp() }),
  )
  return { value: { userName: name }, text: `${name} is signed out everywhere.` }
}

async function signOutAll(invocation: Invocation): Promise<Outcome> {
  const { email, 'user-name': userName } = invocation.texts
  if (invocation.positionals.length > 0 || email !== undefined || userName !== undefined) {
    throw new UsageError('--all means every user: name no user')
  }
  const users = await withDatabase(invocation, async (db) => {
    let count = 0
    let afterId: number | undefined = 0
    while (afterId !== undefined) {
      const input = { afterId, limit: batchUsers, stamp: commandStamp() }
      const ended: { users: number; lastId: number | undefined } = await db.write('signOutUsers', input)
      count += ended.users
      afterId = ended.lastId
      if (afterId !== undefined) await wait(pauseMilliseconds)
    }
    return count
  })
  return {
    value: { users },
    text: `${users} ${users === 1 ? 'user is' : 'users are'} signed out everywhere.`,
  }
}
