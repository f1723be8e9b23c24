/**
 * What shows who an account is: sessions, tokens, passwords. A session or token family works while it has the
 * epoch of its account, so one UPDATE of the account ends them all.
 */
import type { Transaction } from '#kysely'
import type { Stamp } from '../../audit/audit.ts'
import type { Database } from '../../db/tables.ts'
import { Problem } from '../../http/problems.ts'
import { recordAccount } from '../accounts/accounts.ts'
import { lockAdministration } from '../accounts/roles/administrators.ts'
import {
  type CheckedCredentials,
  confirmCredentials,
  lockAccount,
  revokeCredentials,
  updateCredentialsDate,
} from '../accounts/store.ts'
import { givePassword } from '../accounts/users/users.ts'
import { replaceIds } from './sessions/store.ts'
import { deleteSignIn, keepSignIn } from './store.ts'

type Trx = Transaction<Database>

export interface EndSignInInput {
  principalId: number
  id: string
  stamp: Stamp
}

/**
 * Ends one session, or one token family with its access tokens. Access tokens of the user's other families
 * end with it, and a refresh gets new ones. Ending the sign-in of another user takes the permission to manage
 * accounts. Throws `sign-in-not-found`.
 */
export async function endSignIn(trx: Trx, { principalId, id, stamp }: EndSignInInput): Promise<void> {
  if (stamp.byId !== principalId) await lockAdministration(trx, stamp)
  const account = await lockAccount(trx, principalId)
  const kind = await deleteSignIn(trx, { principalId, id })
  if (account === undefined || kind === undefined) throw new Problem('sign-in-not-found')
  if (kind === 'tokens') await updateCredentialsDate(trx, [principalId], stamp.nowMilliseconds)
  await recordAccount(trx, stamp, 'sign-in-ended', account)
}

/** The sign-in that continues when all others end. */
export interface KeptSignIn {
  id: string
  /** Hash of the only id of the session from then on; null for a token family. */
  newIdHash: string | null
  authenticatedAt: number
}

export interface EndOtherSignInsInput {
  principalId: number
  kept: KeptSignIn
  stamp: Stamp
}

/** Ends all sign-ins of the user except one. Throws `authentication-required` if that one has ended. */
export async function endOtherSignIns(
  trx: Trx,
  { principalId, kept, stamp }: EndOtherSignInsInput,
): Promise<void> {
  const account = await lockAccount(trx, principalId)
  if (account === undefined) throw new Problem('authentication-required')
  await revokeCredentials(trx, [principalId], stamp.nowMilliseconds)
  await keep(trx, principalId, account.epoch, kept)
  await recordAccount(trx, stamp, 'others-signed-out', account)
}

export interface ChangePasswordInput extends CheckedCredentials {
  newPasswordHash: string
  kept: KeptSignIn
  /** By the user. */
  stamp: Stamp
}

/**
 * Replaces the password that was checked and ends all sessions and token families except one. Throws
 * `invalid-credentials` if the password has changed since the check: of two simultaneous changes one fails.
 */
export async function changePassword(trx: Trx, input: ChangePasswordInput): Promise<void> {
  const { principalId, newPasswordHash, kept, stamp } = input
  const epoch = await confirmCredentials(trx, input)
  await givePassword(trx, principalId, newPasswordHash, stamp.nowMilliseconds)
  await keep(trx, principalId, epoch, kept)
  await recordAccount(trx, stamp, 'password-changed', { id: principalId, name: stamp.by })
}

/** An id may have been copied, so the session continues with a new one only (ASVS 5.0 7.2.4). */
async function keep(trx: Trx, principalId: number, endedEpoch: number, kept: KeptSignIn): Promise<void> {
  const { id, newIdHash, authenticatedAt } = kept
  if (!(await keepSignIn(trx, { principalId, id, endedEpoch }))) throw new Problem('authentication-required')
  if (newIdHash !== null) await replaceIds(trx, { sessionId: id, idHash: newIdHash, authenticatedAt })
}
