import { requireAccount } from '../auth/accounts/accounts.ts'
import { findPasskeys } from '../auth/credentials/passkeys/store.ts'
import { formatInstant, formatInstantOrNull } from '../clock.ts'
import { namedUser } from './accounts.ts'
import type { Invocation, Outcome } from './command.ts'
import { commandStamp, withDatabase, withDatabaseToRead } from './database.ts'
import { UsageError } from './failures.ts'
import { table } from './output.ts'

/** Prints the passkeys of one user: what `user remove-passkey` can name. */
export async function runListPasskeys(invocation: Invocation): Promise<Outcome> {
  const { account } = namedUser(invocation)
  return withDatabaseToRead(invocation, async (db) => {
    const { id } = await requireAccount(db.read, account)
    const passkeys = await findPasskeys(db.read, id)
    const rows = passkeys.map((passkey) => [
      passkey.id,
      passkey.name,
      passkey.isSynced ? 'several devices' : 'one device',
      formatInstantOrNull(passkey.lastUsedAt) ?? 'never',
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

export async function runRemovePasskey(invocation: Invocation): Promise<Outcome> {
  const { account, rest } = namedUser(invocation)
  const [id, ...more] = rest
  if (id === undefined || more.length > 0) throw new UsageError('name one passkey by its id (user passkeys)')
  const name = await withDatabase(invocation, async (db) => {
    const user = await requireAccount(db.read, account)
    await db.write('removePasskey', {
      ...{ principalId: user.id, id, rpId: null },
      stamp: commandStamp(),
    })
    return user.name
  })
  return {
    value: { userName: name, id },
    text: `The passkey of ${name} is removed. The sign-ins that it began have ended.`,
  }
}
