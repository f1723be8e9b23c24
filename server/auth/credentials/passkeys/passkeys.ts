/**
 * Passkeys: public keys whose private halves never leave a person's authenticators. Each touch answers a
 * challenge that says what it is for, and works once.
 */
import type { Stamp } from '../../../caller/stamp.ts'
import { requireStanding } from '../../../caller/standing.ts'
import { type Challenge, takeChallenge } from '../../../caller/touch.ts'
import type { Trx } from '../../../db/tables.ts'
import { Problem } from '../../../problems/problems.ts'
import { type AccountData, type PasskeyData, recordChange, requireAccount } from '../../accounts/accounts.ts'
import { lockAdministration } from '../../accounts/roles/administrators.ts'
import {
  endRequests,
  hasCompanyAccount,
  keepName,
  lockOwn,
  lockVersion,
  updateCredentialsDate,
  voidMailedLinks,
} from '../../accounts/store.ts'
import { deletePasskeys } from '../../accounts/users/store.ts'
import type { NewPasskey } from './ceremonies.ts'
import {
  basisOf,
  endSignInsBy,
  findPasskeys,
  hasPasskey,
  hasPassword,
  insertPasskey,
  type PresentedSignIn,
  passkeysLimit,
  updateName,
} from './store.ts'

export interface AddPasskeyInput {
  /** The sign-in in which the passkey is added. */
  signIn: PresentedSignIn
  passkey: NewPasskey
  challenge: Challenge
  rpId: string
  name: string
  stamp: Stamp & { byId: number }
}

/**
 * Adds a passkey, and records its key and what the caller had last given. Throws `passkey-invalid` if its
 * challenge was used or its id is taken, `too-many-passkeys`, `recent-sign-in-needed`,
 * `authentication-required`.
 */
export async function addPasskey(trx: Trx, input: AddPasskeyInput): Promise<void> {
  const { signIn, passkey, challenge, rpId, name, stamp } = input
  const { byId: principalId, nowMilliseconds } = stamp
  const account = await lockOwn(trx, stamp)
  const basis = await basisOf(trx, principalId, signIn)
  if (basis === undefined) throw new Problem('recent-sign-in-needed')
  if ((await findPasskeys(trx, principalId)).length >= passkeysLimit) throw new Problem('too-many-passkeys')
  const { id, publicKey, counter, isSynced } = passkey
  const added = { id, principalId, rpId, name, publicKey, counter, isSynced, nowMilliseconds }
  if (!(await takeChallenge(trx, challenge)) || !(await insertPasskey(trx, added))) {
    throw new Problem('passkey-invalid')
  }
  // No link is mailed to someone with a passkey.
  await voidMailedLinks(trx, principalId)
  const key = { id, publicKey: passkey.jwk, aaguid: passkey.aaguid }
  const { isBackedUp: backedUp } = passkey
  const { restedOn, ...setBy } = await restedOnIn(trx, basis)
  await recordChange(trx, stamp, 'passkey-added', account, {
    passkey: { ...key, synced: isSynced, backedUp, restedOn },
    passkeyName: name,
    ...setBy,
  })
}

/** Throws `passkey-not-found`, `authentication-required`. */
export async function renamePasskey(
  trx: Trx,
  { id, name, stamp }: { id: string; name: string; stamp: Stamp & { byId: number } },
): Promise<void> {
  const account = await lockOwn(trx, stamp)
  const isFound = await updateName(trx, { principalId: account.id, id, name })
  if (!isFound) throw new Problem('passkey-not-found')
  await recordChange(trx, stamp, 'passkey-renamed', account, { passkey: { id }, passkeyName: name })
}

export interface RemovePasskeyInput {
  principalId: number
  id: string
  /** Where the service is reached; null at a command line, which may not know it. */
  rpId: string | null
  /** The provider of company accounts by which people can sign in; null without one. */
  issuer: string | null
  stamp: Stamp
}

/**
 * Removes a passkey and ends the sign-ins that it began. Access tokens of the user end with it, and what the
 * user asked for in any sign-in. Removing that
 * of another user takes the permission to manage accounts. Throws `passkey-not-found`, `last-credential`,
 * `user-not-found`, `authentication-required`, `permission-denied`.
 */
export async function removePasskey(
  trx: Trx,
  { principalId, id, rpId, issuer, stamp }: RemovePasskeyInput,
): Promise<{ ended: string[] }> {
  const isOwn = stamp.byId === principalId
  if (!isOwn) await lockAdministration(trx, stamp)
  await lockVersion(trx, 'user', principalId, null)
  if (isOwn) await requireStanding(trx, stamp)
  const account = await requireAccount(trx, { kind: 'user', id: principalId })
  if ((await deletePasskeys(trx, principalId, id)).length === 0) throw new Problem('passkey-not-found')
  await requireCredential(trx, principalId, { rpId, issuer })
  const ended = await endSignInsBy(trx, principalId, id)
  await endRequests(trx, [principalId])
  await updateCredentialsDate(trx, [principalId], stamp.nowMilliseconds)
  await recordChange(trx, stamp, 'passkey-removed', account, { passkey: { id } })
  return { ended }
}

/**
 * Throws `last-credential` if the user could not sign in any more: a passkey of another host name, from
 * before a move, is of no use, and neither is an account of another provider.
 */
export async function requireCredential(
  trx: Trx,
  principalId: number,
  { rpId, issuer }: { rpId: string | null; issuer: string | null },
): Promise<void> {
  const canSignIn =
    (await hasPassword(trx, principalId)) ||
    (await hasPasskey(trx, principalId, rpId)) ||
    (issuer !== null && (await hasCompanyAccount(trx, principalId, issuer)))
  if (!canSignIn) throw new Problem('last-credential')
}

type Basis = NonNullable<Awaited<ReturnType<typeof basisOf>>>

/** The facts in the event of an enrolment about the credential it rests on. */
async function restedOnIn(
  trx: Trx,
  basis: Basis,
): Promise<Required<Pick<PasskeyData, 'restedOn'>> & Pick<AccountData, 'passwordSetBy'>> {
  if ('passkey' in basis) return { restedOn: basis }
  if ('company' in basis) return { restedOn: { ...basis, password: 'none' } }
  const { origin } = basis
  if (typeof origin === 'string') return { restedOn: { password: origin } }
  const { setBy } = origin
  const restedOn = { password: 'set', passwordSetBy: setBy } as const
  return { restedOn, ...(setBy !== null && { passwordSetBy: await keepName(trx, setBy) }) }
}
