import { requireAccount } from '../../auth/accounts/accounts.ts'
import { roleNames } from '../../auth/accounts/roles/store.ts'
import type { Account, AccountKind, AccountReference } from '../../auth/accounts/store.ts'
import { type Permission, permissions } from '../../caller/permissions.ts'
import type { AppDatabase, ReadableDatabase } from '../../db/port.ts'
import { Fault, type Field } from '../../http/fields.ts'
import { type Invocation, type Outcome, type Run, requiredArgument, splitCommas } from '../command.ts'
import { withDatabase, withStranded } from '../database.ts'
import { Refused, UsageError } from '../failures.ts'

/** The account that a command line names, and the arguments after it. */
interface Named<Kind extends AccountKind> {
  reference: AccountReference<Kind>
  rest: string[]
}

/** A user is named by --email, --user-name or the first argument. */
export function namedUser({ texts, positionals }: Invocation): Named<'user'> {
  const { email, 'user-name': userName } = texts
  if (email !== undefined && userName !== undefined) {
    throw new UsageError('--email and --user-name both name the user: give one')
  }
  const option = email ?? userName
  const [first, ...others] = positionals
  const name = option ?? first
  if (!name) throw new UsageError('the user is missing: give an email or a user name')
  return {
    reference: email === undefined ? userCalled(name) : { kind: 'user', email },
    rest: option === undefined ? others : positionals,
  }
}

function namedClient(invocation: Invocation): Named<'client'> {
  const name = requiredArgument(invocation, 0, 'the client id')
  return { reference: { kind: 'client', name }, rest: invocation.positionals.slice(1) }
}

const named = { user: namedUser, client: namedClient }

/** A user by email or user name; only an email has an @. */
export function userCalled(name: string): AccountReference<'user'> {
  return name.includes('@') ? { kind: 'user', email: name } : { kind: 'user', name }
}

/** The account that a command names. The reference is its id: the account may be renamed in the meantime. */
export type NamedAccount<Kind extends AccountKind = AccountKind> = Account & {
  reference: AccountReference<Kind>
}

type Work<Kind extends AccountKind> = (db: AppDatabase, account: NamedAccount<Kind>) => Promise<Outcome>

/** A command about one account. `prepare` checks the rest of the command line before anything is opened. */
export const about =
  <Kind extends AccountKind>(
    kind: Kind,
    prepare: (invocation: Invocation, rest: string[]) => Work<Kind>,
  ): Run =>
  async (invocation) => {
    const { reference, rest } = named[kind](invocation)
    const work = prepare(invocation, rest)
    return withDatabase(invocation, async (db) => {
      const account = await requireAccount(db.read, reference)
      return withStranded(db, await work(db, { ...account, reference: { kind, id: account.id } }))
    })
  }

/** A value by the rules of the API. Throws `Refused` in a sentence that begins with `subject`. */
export function readBy<T>(field: Field<T>, subject: string, text: string): T {
  const value = field.read(text)
  if (value instanceof Fault) throw refusedBy(subject, value)
  return value
}

export function refusedBy(subject: string, { detail }: { detail: string }): Refused {
  return new Refused('validation-failed', `${subject} ${detail.replace(/\.$/, '')}`)
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

/** The roles as the table spells them. Throws `Refused` naming all roles. */
export async function spellRoles(db: ReadableDatabase, given: readonly string[]): Promise<string[]> {
  return spell('role', given, await roleNames(db.read))
}

export async function spellRole(db: ReadableDatabase, given: string): Promise<string> {
  const [role = given] = await spellRoles(db, [given])
  return role
}

export function spellPermissions(words: string[]): Permission[] {
  return spell('permission', splitCommas(words), permissions)
}

/** Each name once, in the spelling that `known` has, and sorted. Case is ignored. */
export function spell<Name extends string>(
  what: 'role' | 'permission',
  given: readonly string[],
  known: readonly Name[],
): Name[] {
  const byFolded = new Map(known.map((name) => [name.toLowerCase(), name]))
  const unknown = given.filter((name) => !byFolded.has(name.toLowerCase()))
  if (unknown.length > 0) {
    throw new Refused(
      `unknown-${what}`,
      `there is no ${what} ${unknown.join(', ')}; the ${what}s are ${known.join(', ')}`,
    )
  }
  const spelled = given.map((name) => byFolded.get(name.toLowerCase()) as Name)
  return [...new Set(spelled)].sort()
}
