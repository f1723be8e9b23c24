import { requireAccount } from '../auth/accounts/accounts.ts'
import type { ClientAccount } from '../auth/accounts/clients/store.ts'
import { isAccountName } from '../auth/accounts/names.ts'
import { displayNameField, endField } from '../auth/routes/administration/fields.ts'
import { formatInstant, formatInstantOrNull } from '../clock.ts'
import type { AppDatabase } from '../db/port.ts'
import { Fault, type Field } from '../http/fields.ts'
import { newSecret, sha256 } from '../ids.ts'
import { namedClient, referenceTo, rolesCell, runList, stateCell } from './accounts.ts'
import { type Invocation, type Outcome, requiredArgument } from './command.ts'
import { commandStamp, withDatabase } from './database.ts'
import { Refused, UsageError } from './failures.ts'
import { spellRoles } from './roles.ts'

export async function runAddClient(invocation: Invocation): Promise<Outcome> {
  const clientId = requiredArgument(invocation, 0, 'the client id')
  if (!isAccountName(clientId)) {
    throw new Refused(
      'invalid-client-id',
      'a client id starts with a letter and has at most 64 letters, digits and . _ -',
    )
  }
  const clientSecret = newSecret()
  const details = readDetails(invocation)
  const roles = await withDatabase(invocation, async (db) => {
    const roles = await spellRoles(db, invocation.lists.role ?? [])
    const owner = await findOwner(db, invocation.texts.owner)
    const client = {
      clientId,
      ...details,
      ownerId: owner?.id ?? null,
      roles,
      secretHash: sha256(clientSecret),
      stamp: commandStamp(),
    }
    await db.write('addClient', client)
    return roles
  })
  const hint = roles.length > 0 ? '' : ' Without a role the service can do nothing (client grant).'
  return secretOutcome(clientId, clientSecret, hint)
}

/** The display name and the end date, checked by the rules of the API. Throws `Refused`. */
function readDetails({ texts }: Invocation): { displayName: string | null; endsAt: number | null } {
  const read = <T>(option: string, field: Field<T>): T | null => {
    const text = texts[option]
    const value = text === undefined ? null : field.read(text)
    if (value instanceof Fault) throw new Refused(`invalid-${option}`, `--${option} ${value.detail}`)
    return value
  }
  return { displayName: read('display-name', displayNameField), endsAt: read('ends-at', endField) }
}

/** Null without a name. Throws `user-not-found`. */
async function findOwner(db: AppDatabase, name: string | undefined) {
  return name === undefined ? null : requireAccount(db.read, referenceTo(name))
}

export async function runSetOwner(invocation: Invocation): Promise<Outcome> {
  const [, name] = invocation.positionals
  if ((name === undefined) !== invocation.switches.has('none')) {
    throw new UsageError('give either the owner or --none')
  }
  const client = namedClient(invocation)
  return withDatabase(invocation, async (db) => {
    const { id, name: clientId } = await requireAccount(db.read, client)
    const owner = await findOwner(db, name)
    const ownerId = owner?.id ?? null
    const kept = { displayName: null, endsAtUtc: null, roles: null, enabled: null }
    const changes = { ...kept, ownerId: { value: ownerId } }
    await db.write('changeClient', { id, acceptedVersions: null, changes, stamp: commandStamp() })
    return {
      value: { clientId, ownerId, owner: owner?.name ?? null },
      text: `${clientId} is owned by ${owner?.name ?? 'nobody'}.`,
    }
  })
}

export async function runRotateSecret(invocation: Invocation): Promise<Outcome> {
  const account = namedClient(invocation)
  const clientSecret = newSecret()
  const secretHash = sha256(clientSecret)
  const dropOld = invocation.switches.has('now')
  const { name } = await withDatabase(invocation, (db) =>
    db.write('rotateClientSecret', { account, secretHash, dropOld, stamp: commandStamp() }),
  )
  return secretOutcome(name, clientSecret, ' `client list` shows how many are active.')
}

function secretOutcome(clientId: string, clientSecret: string, hint: string): Outcome {
  return {
    value: { clientId, clientSecret },
    text: `clientId:     ${clientId}\nclientSecret: ${clientSecret}`,
    hint: `The secret is not shown again.${hint}`,
  }
}

export async function runDropOldSecret(invocation: Invocation): Promise<Outcome> {
  const account = namedClient(invocation)
  const { name, dropped } = await withDatabase(invocation, (db) =>
    db.write('dropOldClientSecrets', { account, stamp: commandStamp() }),
  )
  return {
    value: { clientId: name, dropped },
    text: dropped === 0 ? `${name} has no old secret.` : `Only the newest secret of ${name} is active.`,
  }
}

export const runListClients = runList<ClientAccount>({
  find: (db, wanted, options) => db.query('findClients', wanted, options),
  headings: ['ID', 'CLIENT ID', 'ROLES', 'SECRETS', 'OWNER', 'STATE'],
  cellsOf: (client) => [
    String(client.id),
    client.clientId,
    rolesCell(client),
    String(client.secrets),
    client.owner ?? '-',
    stateCell(client),
  ],
  toValue: ({ version: _, endsAt, lastUsedAt, createdAt, ...client }) => ({
    ...client,
    endsAtUtc: formatInstantOrNull(endsAt),
    lastUsedAtUtc: formatInstantOrNull(lastUsedAt),
    createdAtUtc: formatInstant(createdAt),
  }),
})
