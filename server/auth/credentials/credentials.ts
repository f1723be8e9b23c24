/**
 * What proves who a caller is: sessions, tokens and passwords. A session or token family works while it has
 * the epoch of its account, so one UPDATE of the account ends them all.
 */
import type { Stamp } from '../../caller/stamp.ts'
import type { Trx } from '../../db/tables.ts'
import { Problem } from '../../problems/problems.ts'
import { recordAccount } from '../accounts/accounts.ts'
import { lockAdministration } from '../accounts/roles/administrators.ts'
import {
  type CheckedCredentials,
  confirmCredentials,
  endRequests,
  endRequestsOf,
  lockAccount,
  lockEpoch,
  lockOwn,
  revokeCredentials,
  updateCredentialsDate,
} from '../accounts/store.ts'
import { givePassword } from '../accounts/users/users.ts'
import { requireCredential } from './passkeys/passkeys.ts'
import { basisOf, hasPassword, type PresentedSignIn } from './passkeys/store.ts'
import { replaceIds } from './sessions/ids/store.ts'
import { deleteSignIn, hasOtherSignIns, keepSignIn } from './store.ts'

export interface EndSignInInput {
  principalId: number
  id: string
  stamp: Stamp
}

/**
 * Ends one session, or one token family with its access tokens, and what was asked for in it. Access tokens
 * of the user's other families end with it, and a refresh gets new ones. Ending the sign-in of another user
 * takes the permission to manage accounts. Throws `sign-in-not-found`, `authentication-required`.
 */
export async function endSignIn(trx: Trx, { principalId, id, stamp }: EndSignInInput): Promise<void> {
  const isOwn = stamp.byId === principalId
  if (!isOwn) await lockAdministration(trx, stamp)
  const account = isOwn
    ? await lockOwn(trx, { ...stamp, byId: principalId })
    : await lockAccount(trx, principalId)
  const kind = account && (await deleteSignIn(trx, { principalId, id, epoch: account.epoch }))
  if (kind === undefined) throw new Problem('sign-in-not-found')
  if (kind === 'tokens') await updateCredentialsDate(trx, [principalId], stamp.nowMilliseconds)
  await endRequestsOf(trx, { principalId, signInId: id })
  await recordAccount(trx, stamp, 'sign-in-ended', { id: principalId })
}

/** The sign-in that continues when all others end. */
export interface KeptSignIn {
  id: string
  /** Hash of the only id of the session from then on; null for a token family. */
  newIdHash: string | null
  authenticatedAt: number
  /** The passkey that was given then; null for the password and a company account. */
  passkeyId: string | null
  byCompany?: boolean
}

export interface EndOtherSignInsInput {
  principalId: number
  kept: KeptSignIn
  stamp: Stamp
}

/**
 * Ends all sign-ins of the user except one, and what was asked for in any of them. If there is no other, the
 * ids of that one change. Throws `authentication-required` if that one has ended.
 */
export async function endOtherSignIns(
  trx: Trx,
  { principalId, kept, stamp }: EndOtherSignInsInput,
): Promise<void> {
  const epoch = await lockEpoch(trx, principalId)
  if (await hasOtherSignIns(trx, { principalId, id: kept.id, epoch })) {
    await revokeCredentials(trx, [principalId], stamp.nowMilliseconds)
    await keep(trx, { principalId, from: epoch, to: epoch + 1 }, kept)
    await recordAccount(trx, stamp, 'others-signed-out', { id: principalId })
  } else {
    await keep(trx, { principalId, from: epoch, to: epoch }, kept)
    await endRequests(trx, [principalId])
  }
}

export interface ChangePasswordInput extends CheckedCredentials {
  newPasswordHash: string
  kept: KeptSignIn
  /** The stamp names the user. */
  stamp: Stamp
}

/**
 * Replaces the password that was checked and ends all sessions and token families except one. Throws
 * `invalid-credentials` if the password has changed since the check: of two simultaneous changes one fails.
 */
export async function changePassword(trx: Trx, input: ChangePasswordInput): Promise<void> {
  const { principalId, newPasswordHash, kept, stamp } = input
  const from = await confirmCredentials(trx, input)
  await givePassword(trx, principalId, { passwordHash: newPasswordHash, origin: 'own' }, stamp)
  await keep(trx, { principalId, from, to: from + 1 }, kept)
  await recordAccount(trx, stamp, 'password-changed', { id: principalId })
}

/**
 * Takes the password away from a user who signs in by passkey from then on, and ends all other sign-ins.
 * Throws `recent-sign-in-needed` if the caller did not last give a passkey, `last-credential` without one.
 */
export async function removePassword(
  trx: Trx,
  { signIn, kept, stamp }: { signIn: PresentedSignIn; kept: KeptSignIn; stamp: Stamp & { byId: number } },
): Promise<void> {
  const { byId: principalId } = stamp
  const account = await lockOwn(trx, stamp)
  const basis = await basisOf(trx, principalId, signIn)
  if (!(await hasPassword(trx, principalId))) {
    return keep(trx, { principalId, from: account.epoch, to: account.epoch }, kept)
  }
  await givePassword(trx, principalId, { passwordHash: null, origin: 'own' }, stamp)
  await requireCredential(trx, principalId, { rpId: null, issuer: null })
  if (basis === undefined || !('passkey' in basis)) throw new Problem('recent-sign-in-needed')
  await keep(trx, { principalId, from: account.epoch, to: account.epoch + 1 }, kept)
  await recordAccount(trx, stamp, 'password-removed', account)
}

/** The old id may have been copied, so the session continues under a new id only (ASVS 5.0 7.2.4). */
async function keep(
  trx: Trx,
  { principalId, ...epochs }: { principalId: number; from: number; to: number },
  { id, newIdHash, ...authenticated }: KeptSignIn,
): Promise<void> {
  if (!(await keepSignIn(trx, { ...epochs, id }))) throw new Problem('authentication-required')
  if (newIdHash !== null) {
    await replaceIds(trx, { principalId, sessionId: id, idHash: newIdHash, ...authenticated })
  }
}
