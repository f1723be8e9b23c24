import { setTimeout as wait } from 'node:timers/promises'
import { requireAccount } from '../auth/accounts/accounts.ts'
import { isAccountName, normalizeEmail } from '../auth/accounts/names.ts'
import { linkAddress } from '../auth/accounts/users/links.ts'
import { listUsers } from '../auth/accounts/users/store.ts'
import { Passwords } from '../auth/credentials/passwords/passwords.ts'
import { formatInstant, parseTimeZone } from '../clock.ts'
import { readPublicUrl } from '../config.ts'
import { newSecret, sha256 } from '../ids.ts'
import { namedUser } from './accounts.ts'
import type { Invocation, Outcome } from './command.ts'
import { commandStamp, withDatabase } from './database.ts'
import { Refused, UsageError } from './failures.ts'
import { readNewPassword } from './new-password.ts'
import { spellRoles } from './role-names.ts'
import { table } from './table.ts'

export async function runAddUser(invocation: Invocation): Promise<Outcome> {
  const { userName, email, timeZone } = newUser(invocation)
  return withDatabase(invocation, async (db) => {
    const roles = await spellRoles(db, invocation.lists.role ?? [])
    const isInvited = invocation.switches.has('invite')
    const passwordHash = isInvited
      ? null
      : await new Passwords().hash(await readNewPassword([userName, email]))
    const { id } = await db.write('addUser', {
      userName,
      email,
      passwordHash,
      timeZone,
      roles,
      stamp: commandStamp(),
    })
    return {
      value: { id, userName, email, roles, timeZone, enabled: true },
      text: `Added user ${userName} (${email}), id ${id}, ${describeRoles(roles)}.`,
      ...hintFor(roles, isInvited),
    }
  })
}

function hintFor(roles: string[], isInvited: boolean): { hint?: string } {
  if (isInvited) return { hint: 'There is no password yet: `user link` prints the link that sets one.' }
  if (roles.length > 0) return {}
  return { hint: 'Without a role the user can sign in, but do nothing (user grant).' }
}

interface NewUser {
  userName: string
  email: string
  timeZone: string | null
}

function newUser(invocation: Invocation): NewUser {
  const { email, userName } = newNames(invocation)
  const normalized = normalizeEmail(email)
  if (normalized === undefined) {
    throw new Refused(
      'invalid-email',
      'an email has 3 to 254 characters with one @ between them, and no spaces',
    )
  }
  const name = userName ?? nameFromEmail(normalized)
  if (!isAccountName(name)) {
    throw new Refused(
      'invalid-user-name',
      'a user name begins with a letter and has at most 64 letters, digits and . _ - (give --user-name)',
    )
  }
  const given = invocation.texts['time-zone']
  const timeZone = given === undefined ? null : parseTimeZone(given)
  if (timeZone === undefined) {
    throw new Refused('invalid-time-zone', 'a time zone is an IANA name such as Europe/Berlin')
  }
  return { userName: name, email: normalized, timeZone }
}

/** The argument is the email when it has an @, else the user name. */
function newNames(invocation: Invocation): { email: string; userName: string | undefined } {
  const [argument] = invocation.positionals
  const { email, 'user-name': userName } = invocation.texts
  const isEmail = argument?.includes('@') === true
  if (argument !== undefined && (isEmail ? email : userName) !== undefined) {
    throw new UsageError(`the ${isEmail ? 'email' : 'user name'} is given twice`)
  }
  const emailGiven = isEmail ? argument : email
  if (emailGiven === undefined) throw new UsageError('the email is missing')
  return { email: emailGiven, userName: isEmail ? userName : (argument ?? userName) }
}

/** What comes before the @, made a legal user name as far as it can be. */
function nameFromEmail(email: string): string {
  const local = email.slice(0, email.indexOf('@'))
  return local
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[^A-Za-z]+|[._-]+$/g, '')
    .slice(0, 64)
}

export async function runListUsers(invocation: Invocation): Promise<Outcome> {
  const users = await withDatabase(invocation, (db) => listUsers(db.read))
  return {
    value: users.map(({ version: _, ...user }) => ({ ...user, createdAt: formatInstant(user.createdAt) })),
    text: table(
      ['ID', 'USER NAME', 'EMAIL', 'ROLES', 'TIME ZONE', 'STATE'],
      users.map((user) => [
        String(user.id),
        user.userName,
        user.email,
        user.roles.join(', ') || '-',
        user.timeZone ?? '-',
        (user.enabled ? 'enabled' : 'disabled') +
          (user.demo ? ', demo' : '') +
          (user.hasPassword ? '' : ', no password'),
      ]),
    ),
  }
}

export async function runSetPassword(invocation: Invocation): Promise<Outcome> {
  const { account } = namedUser(invocation)
  return withDatabase(invocation, async (db) => {
    const found = await requireAccount(db.read, account)
    const password = await readNewPassword([found.name, found.email ?? ''])
    const passwordHash = await new Passwords().hash(password)
    // By number: somebody may have renamed the user since.
    const change = { account: { kind: 'user', id: found.id } as const, passwordHash, stamp: commandStamp() }
    await db.write('setPassword', change)
    return {
      value: { userName: found.name },
      text: `${found.name} has a new password; sessions and tokens have been ended.`,
    }
  })
}

/** Prints it once: what stands in it is stored as a hash. */
export async function runLink(invocation: Invocation): Promise<Outcome> {
  const { account } = namedUser(invocation)
  const publicUrl = readPublicUrl(process.env, invocation)
  const token = newSecret()
  const change = { account, tokenHash: sha256(token), stamp: commandStamp() }
  const { name, email, expiresAt } = await withDatabase(invocation, (db) => db.write('makeLink', change))
  const link = linkAddress(publicUrl, { token, email })
  return {
    value: { userName: name, link, expiresAt: formatInstant(expiresAt) },
    text: link,
    hint: `${name} sets a password with it, once, until ${formatInstant(expiresAt)}. Earlier links no longer work.`,
  }
}

/** Users of one transaction of `--all`; a service that runs on writes in the pauses between them. */
const portion = 500
const pauseMilliseconds = 20

export async function runSignOut(invocation: Invocation): Promise<Outcome> {
  if (invocation.switches.has('all')) return signOutEverybody(invocation)
  const { account } = namedUser(invocation)
  const { name } = await withDatabase(invocation, (db) =>
    db.write('signOutUser', { account, stamp: commandStamp() }),
  )
  return { value: { userName: name }, text: `${name} is signed out everywhere.` }
}

async function signOutEverybody(invocation: Invocation): Promise<Outcome> {
  const { email, 'user-name': userName } = invocation.texts
  if (invocation.positionals.length > 0 || email !== undefined || userName !== undefined) {
    throw new UsageError('--all means every user: name none')
  }
  const users = await withDatabase(invocation, async (db) => {
    let count = 0
    let afterId: number | undefined = 0
    while (afterId !== undefined) {
      const input = { afterId, limit: portion, stamp: commandStamp() }
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

function describeRoles(roles: string[]): string {
  return roles.length === 0 ? 'no roles' : `${roles.length === 1 ? 'role' : 'roles'} ${roles.join(', ')}`
}
