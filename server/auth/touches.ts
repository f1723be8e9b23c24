import type { FastifyRequest } from 'fastify'
import type { PublicKey } from '../../proof/decision.ts'
import type { Challenge, Touch } from '../caller/touch.ts'
import { callerOf } from '../http/route.ts'
import {
  isHandleOf,
  type PasskeyAnswer,
  publicKeyOf,
  relyingPartyOf,
  requireRelyingParty,
  verifyAssertion,
} from './credentials/passkeys/ceremonies.ts'
import { challengeLifetimeMilliseconds } from './credentials/passkeys/challenges.ts'
import { findPasskey, findPasskeys, hasServed } from './credentials/passkeys/store.ts'
import { type AuthParts, checkCounter } from './login.ts'

/** Signatures by the passkeys of a caller, over what another slice gives them to sign. */
export class Touches {
  readonly #parts: Pick<AuthParts, 'db' | 'publicUrl'>

  constructor(parts: Pick<AuthParts, 'db' | 'publicUrl'>) {
    this.#parts = parts
  }

  issuer(): string {
    return this.#parts.publicUrl()
  }

  /**
   * Request options (WebAuthn Level 3 §5.5) for a touch by this account. Undefined if it has no passkey.
   * Throws `passkeys-unavailable`.
   */
  async options(principalId: number, challenge: string) {
    const { db, publicUrl } = this.#parts
    const { id: rpId } = requireRelyingParty(publicUrl())
    const passkeys = await findPasskeys(db.read, principalId)
    if (passkeys.length === 0) return undefined
    const allowCredentials = passkeys.map(({ id }) => ({ type: 'public-key', id }))
    const timeout = challengeLifetimeMilliseconds
    return { challenge, timeout, rpId, allowCredentials, userVerification: 'required' } as const
  }

  /**
   * Undefined unless a passkey of the caller has signed this challenge. Throws `passkey-counter` at the first
   * use of the challenge: one touch may decide many orders.
   */
  async verify(
    request: FastifyRequest,
    answer: PasskeyAnswer,
    challenge: Challenge,
  ): Promise<{ touch: Touch; publicKey: PublicKey } | undefined> {
    const { db, publicUrl } = this.#parts
    const { id: principalId } = callerOf(request)
    const party = relyingPartyOf(publicUrl())
    const found = await findPasskey(db.read, answer.id)
    const { userHandle } = answer.response
    if (party === undefined || found?.principalId !== principalId || !isHandleOf(userHandle, principalId)) {
      return undefined
    }
    const read = (given: string) => (given === challenge.nonce ? challenge : undefined)
    const assertion = await verifyAssertion(party, answer, found, read)
    if (assertion === undefined) return undefined
    if (!(await hasServed(db.read, challenge))) checkCounter(request, found, assertion)
    return { touch: { passkeyId: found.id, ...assertion }, publicKey: await publicKeyOf(found) }
  }
}
