/** The commands about users, absences, service clients and roles: each is a row of one table. */
import { setTimeout as wait } from 'node:timers/promises'
import { requireAccount } from '../../auth/accounts/accounts.ts'
import { findRole, listRoles } from '../../auth/accounts/roles/store.ts'
import { faultOfEnds, findAbsences } from '../../auth/accounts/users/absence.ts'
import { linkAddress } from '../../auth/accounts/users/links.ts'
import { findPasskeys } from '../../auth/credentials/passkeys/store.ts'
import {
  displayNameField,
  endField,
  newEmailField,
  printedNameField,
  timeZoneField,
} from '../../auth/routes/administration/fields.ts'
import { formatInstant, formatInstantOrNull } from '../../clock.ts'
import { claimRolesOf, readCompany, readPublicUrl } from '../../config.ts'
import type { AppDatabase } from '../../db/port.ts'
import { type Field, instantField } from '../../http/fields.ts'
import { accountNameField, nameField } from '../../http/text.ts'
import { newSecret, sha256 } from '../../ids.ts'
import {
  type Invocation,
  type Outcome,
  type Run,
  requiredArgument,
  requiredText,
  splitCommas,
} from '../command.ts'
import { commandStamp, withDatabase, withDatabaseToRead, withStranded } from '../database.ts'
import { UsageError } from '../failures.ts'
import { table } from '../output.ts'
import { listClients, listUsers } from './list.ts'
import {
  about,
  type NamedAccount,
  namedUser,
  nameFromEmail,
  readBy,
  refusedBy,
  spellPermissions,
  spellRole,
  spellRoles,
  userCalled,
} from './named.ts'

export const runs = {
  'user add': addUser,
  'user invite': async (invocation) => (await import('./invite.ts')).runInvite(invocation),
  'user list': listUsers,
  'user sign-out': signOut,
  'user set-name': about('user', setName),
  'user set-password': about('user', () => setPassword),
  'user passkeys': listPasskeys,
  'user remove-passkey': about('user', removePasskey),
  'user unlink': about('user', () => unlink),
  'user link': about('user', makeLink),
  'user disable': about('user', () => setEnabled(false)),
  'user enable': about('user', () => setEnabled(true)),
  'user grant': about('user', changeRoles('grantRoles')),
  'user revoke': about('user', changeRoles('revokeRoles')),
  'absence set': about('user', setAbsence),
  'absence list': listAbsences,
  'absence end': about('user', () => endAbsence),
  'client add': addClient,
  'client list': listClients,
  'client set-owner': about('client', setOwner),
  'client rotate-secret': about('client', rotateSecret),
  'client drop-old-secret': about('client', () => dropOldSecret),
  'client disable': about('client', () => setEnabled(false)),
  'client enable': about('client', () => setEnabled(true)),
  'client grant': about('client', changeRoles('grantRoles')),
  'client revoke': about('client', changeRoles('revokeRoles')),
  'role list': listAllRoles,
  'role add': addRole,
  'role remove': removeRole,
  'role allow': changePermissions('allowPermissions'),
  'role deny': changePermissions('denyPermissions'),
} satisfies Record<string, Run>

const roleName = nameField('', '')
const accountName = accountNameField('', '')
const instant = instantField('', '')

async function addUser(invocation: Invocation): Promise<Outcome> {
  const { given, userName: wanted } = newNames(invocation)
  const email = readBy(newEmailField, 'the email', given)
  const userName = readBy(accountName, 'the user name (--user-name)', wanted ?? nameFromEmail(email))
  const timeZone = readOption(invocation, 'time-zone', timeZoneField)
  const fullName = readOption(invocation, 'name', printedNameField)
  const isInvited = invocation.switches.has('invite')
  return withDatabase(invocation, async (db) => {
    const roles = await spellRoles(db, splitCommas(invocation.lists.role ?? []))
    const passwordHash = isInvited ? null : await newPasswordHash([userName, email])
    const user = { userName, fullName, email, passwordHash, timeZone, roles, stamp: commandStamp() }
    const { id } = await db.write('addUser', user)
    const has =
      roles.length === 0 ? 'no roles' : `${roles.length === 1 ? 'role' : 'roles'} ${roles.join(', ')}`
    return {
      value: { id, userName, name: fullName, email, roles, timeZone, enabled: true },
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

/** An argument with an @ is the email, another one the user name. */
function newNames({ positionals: [argument], texts }: Invocation): {
  given: string
  userName?: string | undefined
} {
  const { email, 'user-name': userName } = texts
  const isEmail = argument?.includes('@') === true
  if (argument !== undefined && (isEmail ? email : userName) !== undefined) {
    throw new UsageError(`the ${isEmail ? 'email' : 'user name'} is given twice`)
  }
  const given = isEmail ? argument : email
  if (given === undefined) throw new UsageError('the email is missing')
  return { given, userName: isEmail ? userName : (argument ?? userName) }
}

/** Loads what hashes and judges passwords: few commands need it. */
async function newPasswordHash(names: string[]): Promise<string> {
  const { Passwords } = await import('../../auth/credentials/passwords/passwords.ts')
  const { readNewPassword } = await import('./new-password.ts')
  return new Passwords().hash(await readNewPassword(names))
}

function setName(invocation: Invocation, [name]: string[]) {
  if ((name === undefined) !== invocation.switches.has('none')) {
    throw new UsageError('give either the name as it is printed or --none')
  }
  const fullName = { value: name === undefined ? null : readBy(printedNameField, 'the name', name) }
  return async (db: AppDatabase, { reference }: NamedAccount<'user'>): Promise<Outcome> => {
    const { id, name: userName } = await requireAccount(db.read, reference)
    const unchanged = { userName: null, email: null, timeZone: null, roles: null, enabled: null }
    const changes = { ...unchanged, fullName }
    await db.write('changeUser', { id, acceptedVersions: null, changes, stamp: commandStamp() })
    const text =
      fullName.value === null
        ? `${userName} has no printed name.`
        : `${userName} is printed as ${fullName.value}.`
    return { value: { id, userName, name: fullName.value }, text }
  }
}

async function setPassword(
  db: AppDatabase,
  { reference, name, email }: NamedAccount<'user'>,
): Promise<Outcome> {
  const passwordHash = await newPasswordHash([name, email ?? ''])
  await db.write('setPassword', { account: reference, passwordHash, stamp: commandStamp() })
  return { value: { userName: name }, text: `${name} has a new password; sessions and tokens have ended.` }
}

/** Users that one transaction of `--all` handles. A running service writes in the pauses between them. */
const batchUsers = 500
const pauseMilliseconds = 20

async function signOut(invocation: Invocation): Promise<Outcome> {
  if (invocation.switches.has('all')) return signOutAll(invocation)
  return about('user', () => async (db, { reference, name }) => {
    await db.write('signOutUser', { account: reference, stamp: commandStamp() })
    return { value: { userName: name }, text: `${name} is signed out everywhere.` }
  })(invocation)
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

/** The link can be shown only now, because its token is stored as a hash. */
function makeLink(invocation: Invocation) {
  const publicUrl = readPublicUrl(process.env, invocation)
  return async (db: AppDatabase, { reference }: NamedAccount<'user'>): Promise<Outcome> => {
    const token = newSecret()
    const stamp = commandStamp()
    const made = await db.write('makeLink', { account: reference, tokenHash: sha256(token), stamp })
    const link = linkAddress(publicUrl, { token, email: made.email })
    const expiresAtUtc = formatInstant(made.expiresAt)
    return {
      value: { userName: made.name, link, expiresAtUtc },
      text: link,
      hint: `${made.name} sets a password with it, once, until ${expiresAtUtc}. Earlier links no longer work.`,
    }
  }
}

async function listPasskeys(invocation: Invocation): Promise<Outcome> {
  const { reference } = namedUser(invocation)
  return withDatabaseToRead(invocation, async (db) => {
    const { id } = await requireAccount(db.read, reference)
    const passkeys = await findPasskeys(db.read, id)
    const rows = passkeys.map(({ id, name, isSynced, lastUsedAt }) => [
      id,
      name,
      isSynced ? 'several devices' : 'one device',
      formatInstantOrNull(lastUsedAt) ?? 'never',
    ])
    return {
      value: passkeys.map(({ createdAt, lastUsedAt, isSynced: synced, ...passkey }) => ({
        ...passkey,
        synced,
        createdAtUtc: formatInstant(createdAt),
        lastUsedAtUtc: formatInstantOrNull(lastUsedAt),
      })),
      text: table(['ID', 'NAME', 'KEPT ON', 'LAST USED'], rows),
    }
  })
}

function removePasskey(_: Invocation, [id, ...more]: string[]) {
  if (id === undefined || more.length > 0) throw new UsageError('name one passkey by its id (user passkeys)')
  return async (db: AppDatabase, user: NamedAccount<'user'>): Promise<Outcome> => {
    await db.write('removePasskey', {
      principalId: user.id,
      id,
      rpId: null,
      issuer: null,
      stamp: commandStamp(),
    })
    const text = `The passkey of ${user.name} is removed. The sign-ins that it began have ended.`
    return { value: { userName: user.name, id }, text }
  }
}

/** Repeating a command is not an error: `changed` is then false. */
async function unlink(db: AppDatabase, user: NamedAccount<'user'>): Promise<Outcome> {
  const { id: principalId, name } = user
  const { changed } = await db.write('unlinkCompany', { principalId, rpId: null, stamp: commandStamp() })
  const text = changed
    ? `The company account of ${name} is unlinked. The sessions that it began have ended.`
    : `${name} has no company account.`
  return { value: { userName: name, changed }, text }
}

/** Names in JSON are those of the contract. */
const nameMember = { user: 'userName', client: 'clientId' }

/** Repeating a command is not an error: `changed` is then false. */
function setEnabled(enabled: boolean) {
  return async (db: AppDatabase, { reference, name }: NamedAccount): Promise<Outcome> => {
    const { changed } = await db.write('setAccountEnabled', {
      account: reference,
      enabled,
      stamp: commandStamp(),
    })
    const state = enabled ? 'enabled' : 'disabled'
    return {
      value: { [nameMember[reference.kind]]: name, enabled, changed },
      text: changed ? `${name} is ${state}.` : `${name} is already ${state}.`,
    }
  }
}

/** Repeating a command is not an error: `changed` lists only roles that moved. */
function changeRoles(operation: 'grantRoles' | 'revokeRoles') {
  return (invocation: Invocation, rest: string[]) => {
    const { lists } = invocation
    const oidcRoles = readCompany(process.env, invocation)?.roles
    const given = splitCommas([...rest, ...(lists.role ?? [])])
    if (given.length === 0) throw new UsageError('a role is missing')
    return async (db: AppDatabase, { reference, name }: NamedAccount): Promise<Outcome> => {
      const wanted = await spellRoles(db, given)
      const { changed, roles } = await db.write(operation, {
        account: reference,
        roles: wanted,
        claimRoles: claimRolesOf({ oidcRoles }),
        stamp: commandStamp(),
      })
      const state = `${name} has ${roles.join(', ') || 'no roles'}.`
      return {
        value: { [nameMember[reference.kind]]: name, changed, roles },
        text: changed.length === 0 ? `Nothing to change: ${state}` : state,
      }
    }
  }
}

function setAbsence(invocation: Invocation) {
  const stamp = commandStamp()
  const deputyName = requiredText(invocation, 'deputy')
  const until = readBy(instant, '--until', requiredText(invocation, 'until'))
  const from = readOption(invocation, 'from', instant) ?? stamp.nowMilliseconds
  const fault = faultOfEnds({ from, until }, stamp.nowMilliseconds)
  if (fault !== undefined) throw refusedBy(`--${fault.member}`, fault)
  return async (db: AppDatabase, person: NamedAccount<'user'>): Promise<Outcome> => {
    const deputy = await requireAccount(db.read, userCalled(deputyName))
    const absence = { from, until, deputyId: deputy.id }
    const { changed } = await db.write('setAbsence', { person: personOf(person), absence, stamp })
    return {
      value: { userName: person.name, until: formatInstant(until), deputy: deputy.name, changed },
      text: `${deputy.name} stands in for ${person.name} until ${formatInstant(until)}.`,
    }
  }
}

async function listAbsences(invocation: Invocation): Promise<Outcome> {
  const absences = await withDatabaseToRead(invocation, (db) =>
    findAbsences(db.read, commandStamp().nowMilliseconds),
  )
  const value = absences.map(({ id, userName, from, until, deputyId, deputy }) => ({
    id,
    userName,
    from: formatInstant(from),
    until: formatInstant(until),
    deputyId,
    deputy,
  }))
  const rows = value.map(({ userName, from, until, deputy }) => [userName, from, until, deputy])
  return { value, text: table(['USER NAME', 'FROM', 'UNTIL', 'DEPUTY'], rows) }
}

const personOf = ({ id, name }: NamedAccount<'user'>) => ({ id, name })

async function endAbsence(db: AppDatabase, person: NamedAccount<'user'>): Promise<Outcome> {
  const { changed } = await db.write('endAbsence', { person: personOf(person), stamp: commandStamp() })
  const text = changed ? `The absence of ${person.name} has ended.` : `${person.name} is not absent.`
  return { value: { userName: person.name, changed }, text }
}

async function addClient(invocation: Invocation): Promise<Outcome> {
  const clientId = readBy(accountName, 'the client id', requiredArgument(invocation, 0, 'the client id'))
  const displayName = readOption(invocation, 'display-name', displayNameField)
  const endsAt = readOption(invocation, 'ends-at', endField)
  const clientSecret = newSecret()
  const roles = await withDatabase(invocation, async (db) => {
    const roles = await spellRoles(db, splitCommas(invocation.lists.role ?? []))
    const ownerId = (await findOwner(db, invocation.texts.owner))?.id ?? null
    const client = { clientId, displayName, endsAt, ownerId, roles, secretHash: sha256(clientSecret) }
    await db.write('addClient', { ...client, stamp: commandStamp() })
    return roles
  })
  const hint = roles.length > 0 ? '' : ' Without a role the service can do nothing (client grant).'
  return secretOutcome(clientId, clientSecret, hint)
}

/** Null without a name. Throws `user-not-found`. */
async function findOwner(db: AppDatabase, name: string | undefined) {
  return name === undefined ? null : requireAccount(db.read, userCalled(name))
}

function setOwner({ switches }: Invocation, [name]: string[]) {
  if ((name === undefined) !== switches.has('none')) throw new UsageError('give either the owner or --none')
  return async (db: AppDatabase, { id, name: clientId }: NamedAccount<'client'>): Promise<Outcome> => {
    const owner = await findOwner(db, name)
    const ownerId = owner?.id ?? null
    const kept = { displayName: null, endsAtUtc: null, roles: null, enabled: null }
    const changes = { ...kept, ownerId: { value: ownerId } }
    await db.write('changeClient', { id, acceptedVersions: null, changes, stamp: commandStamp() })
    return {
      value: { clientId, ownerId, owner: owner?.name ?? null },
      text: `${clientId} is owned by ${owner?.name ?? 'nobody'}.`,
    }
  }
}

function rotateSecret({ switches }: Invocation) {
  const dropOld = switches.has('now')
  return async (db: AppDatabase, { reference, name }: NamedAccount<'client'>): Promise<Outcome> => {
    const clientSecret = newSecret()
    const rotation = { account: reference, secretHash: sha256(clientSecret), dropOld }
    await db.write('rotateClientSecret', { ...rotation, stamp: commandStamp() })
    return secretOutcome(name, clientSecret, ' `client list` shows how many are active.')
  }
}

function secretOutcome(clientId: string, clientSecret: string, hint: string): Outcome {
  return {
    value: { clientId, clientSecret },
    text: `clientId:     ${clientId}\nclientSecret: ${clientSecret}`,
    hint: `The secret is not shown again.${hint}`,
  }
}

async function dropOldSecret(db: AppDatabase, { reference, name }: NamedAccount<'client'>): Promise<Outcome> {
  const { dropped } = await db.write('dropOldClientSecrets', { account: reference, stamp: commandStamp() })
  return {
    value: { clientId: name, dropped },
    text: dropped === 0 ? `${name} has no old secret.` : `Only the newest secret of ${name} is active.`,
  }
}

async function listAllRoles(invocation: Invocation): Promise<Outcome> {
  const roles = await withDatabaseToRead(invocation, (db) => listRoles(db.read))
  return {
    value: roles.map(({ role, permissions }) => ({ role, permissions })),
    text: table(
      ['ROLE', 'PERMISSIONS'],
      roles.map(({ role, permissions }) => [role, permissions.join(', ') || '-']),
    ),
  }
}

async function addRole(invocation: Invocation): Promise<Outcome> {
  const role = readBy(roleName, 'the role', requiredArgument(invocation, 0, 'the role'))
  const permissions = spellPermissions(invocation.positionals.slice(1))
  await withDatabase(invocation, (db) => db.write('addRole', { role, permissions, stamp: commandStamp() }))
  return {
    value: { role, permissions },
    text: `Added the role ${role} with ${permissions.join(', ') || 'no permissions'}.`,
  }
}

async function removeRole(invocation: Invocation): Promise<Outcome> {
  const given = requiredArgument(invocation, 0, 'the role')
  return withDatabase(invocation, async (db) => {
    const role = await spellRole(db, given)
    await db.write('removeRole', { role, stamp: commandStamp() })
    return { value: { role }, text: `Removed the role ${role}.` }
  })
}

/** Repeating a command is not an error: `changed` lists only permissions that moved. */
function changePermissions(operation: 'allowPermissions' | 'denyPermissions'): Run {
  return async (invocation) => {
    const given = requiredArgument(invocation, 0, 'the role')
    const wanted = spellPermissions(invocation.positionals.slice(1))
    if (wanted.length === 0) throw new UsageError('a permission is missing')
    return withDatabase(invocation, async (db) => {
      const role = await spellRole(db, given)
      const { changed } = await db.write(operation, { role, permissions: wanted, stamp: commandStamp() })
      const permissions = (await findRole(db.read, role))?.permissions ?? []
      const state = `${role} has ${permissions.join(', ') || 'no permissions'}.`
      return withStranded(db, {
        value: { role, changed, permissions },
        text: changed.length === 0 ? `Nothing to change: ${state}` : state,
      })
    })
  }
}

/** The value of an option, by the rules of the API; null if it is not given. */
function readOption<T>({ texts }: Invocation, option: string, field: Field<T>): T | null {
  const text = texts[option]
  return text === undefined ? null : readBy(field, `--${option}`, text)
}
