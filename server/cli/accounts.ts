import type { AccountReference } from '../auth/accounts/store.ts'
import { systemClock } from '../clock.ts'
import type { Invocation, Outcome } from './command.ts'
import { accepted, withDatabase } from './database.ts'
import { spellRoles } from './role-names.ts'

/** `user` and `client` `disable` and `enable`. Repeating one is no failure; `changed` tells. */
export async function changeEnabled(
  invocation: Invocation,
  account: AccountReference,
  subject: string,
  enabled: boolean,
): Promise<Outcome> {
  const answer = await withDatabase(invocation, (db) =>
    db.write('setAccountEnabled', { account, enabled, nowMilliseconds: systemClock() }),
  )
  const { name, changed } = accepted(answer, subject)
  const state = enabled ? 'enabled' : 'disabled'
  return {
    value: { [nameMember(account)]: name, enabled, changed },
    text: changed ? `${name} is ${state}.` : `${name} is ${state} already.`,
  }
}

/** `user` and `client` `grant` and `revoke`. Repeating one is no failure; `changed` tells which roles moved. */
export async function changeRoles(
  invocation: Invocation,
  account: AccountReference,
  subject: string,
  operation: 'grantRoles' | 'revokeRoles',
  given: string[],
): Promise<Outcome> {
  const answer = await withDatabase(invocation, async (db) => {
    const roles = await spellRoles(db, given)
    return db.write(operation, { account, roles, nowMilliseconds: systemClock() })
  })
  const { name, changed, roles } = accepted(answer, subject)
  const state = roles.length === 0 ? 'no roles' : roles.join(', ')
  return {
    value: { [nameMember(account)]: name, changed, roles },
    text: changed.length === 0 ? `Nothing to change: ${name} has ${state}.` : `${name} has ${state}.`,
  }
}

/** Names in JSON are those of the contract. */
function nameMember(account: AccountReference): 'userName' | 'clientId' {
  return account.kind === 'user' ? 'userName' : 'clientId'
}
