import { listClients } from '../auth/accounts/clients/store.ts'
import { isAccountName } from '../auth/accounts/names.ts'
import { clientNameField, endField } from '../auth/routes/administration/fields.ts'
import { formatInstant, formatInstantOrNull } from '../clock.ts'
import { Fault, type Field } from '../http/fields.ts'
import { newSecret, sha256 } from '../ids.ts'
import { namedClient, rolesCell, stateCell } from './accounts.ts'
import { type Invocation, type Outcome, requiredArgument } from './command.ts'
import { commandStamp, withDatabase } from './database.ts'
import { Refused } from './failures.ts'
import { table } from './output.ts'
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
    const client = { clientId, ...details, roles, secretHash: sha256(clientSecret), stamp: commandStamp() }
    await db.write('addClient', client)
    return roles
  })
  const hint = roles.length > 0 ? '' : ' Without a role the service can do nothing (client grant).'
  return secretOutcome(clientId, clientSecret, hint)
}

/** Name and end, by the rules of the API. Throws `Refused`. */
function readDetails({ texts }: Invocation): { name: string | null; endsAt: number | null } {
  const read = <T>(option: string, field: Field<T>): T | null => {
    const text = texts[option]
    const value = text === undefined ? null : field.read(text)
    if (value instanceof Fault) throw new Refused(`invalid-${option}`, `--${option} ${value.detail}`)
    return value
  }
  return { name: read('name', clientNameField), endsAt: read('ends-at', endField) }
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

export async function runListClients(invocation: Invocation): Promise<Outcome> {
  const clients = await withDatabase(invocation, (db) => listClients(db.read))
  return {
    value: clients.map(({ version: _, ...client }) => ({
      ...client,
      endsAt: formatInstantOrNull(client.endsAt),
      lastUsedAt: formatInstantOrNull(client.lastUsedAt),
      createdAt: formatInstant(client.createdAt),
    })),
    text: table(
      ['ID', 'CLIENT ID', 'ROLES', 'SECRETS', 'STATE'],
      clients.map((client) => [
        String(client.id),
        client.clientId,
        rolesCell(client),
        String(client.secrets),
        stateCell(client),
      ]),
    ),
  }
}
