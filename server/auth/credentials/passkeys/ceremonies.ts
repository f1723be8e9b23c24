import { createPublicKey } from 'node:crypto'
import { isIP } from 'node:net'
import type { PublicKey } from '../../../../proof/decision.ts'
import type { Challenge } from '../../../caller/touch.ts'
import { Problem } from '../../../problems/problems.ts'

/** To whom a passkey belongs: the relying party of WebAuthn Level 3. */
export interface RelyingParty {
  /** Host name of the public address. A browser offers a passkey under this name only. */
  id: string
  /** Scheme, host and port. */
  origin: string
}

/** Throws `passkeys-unavailable` at an IP address, which no passkey can belong to. */
export function requireRelyingParty(publicUrl: string): RelyingParty {
  const party = relyingPartyOf(publicUrl)
  if (party === undefined) throw new Problem('passkeys-unavailable')
  return party
}

export function relyingPartyOf(publicUrl: string): RelyingParty | undefined {
  const { hostname, origin } = new URL(publicUrl)
  return isIP(hostname.replaceAll(/[[\]]/g, '')) === 0 ? { id: hostname, origin } : undefined
}

/** How an authenticator knows an account: its id, which no person sees there. */
export function handleOf(principalId: number): string {
  return Buffer.from(`account ${principalId}`).toString('base64url')
}

/** An authenticator may leave it out. */
export function isHandleOf(handle: string | null, principalId: number): boolean {
  return handle === null || handle === handleOf(principalId)
}

/** `RegistrationResponseJSON` of the standard, as far as it is read. */
export interface PasskeyOffer {
  id: string
  response: { clientDataJSON: string; attestationObject: string }
}

/** `AuthenticationResponseJSON` of the standard, as far as it is read. */
export interface PasskeyAnswer {
  id: string
  response: {
    clientDataJSON: string
    authenticatorData: string
    signature: string
    userHandle: string | null
  }
}

/** EdDSA, ES256 and RS256, as COSE numbers them. */
export const algorithms = [-8, -7, -257]

/** 1,023 bytes (WebAuthn Level 3 §4, credential id), in base64url. */
const idLimit = 1364
const rsaMinimumBits = 2048

/** A passkey as its authenticator describes it. */
export interface NewPasskey {
  /** Base64url, as the standard has it. */
  id: string
  /** COSE key, base64url. */
  publicKey: string
  jwk: Record<string, string>
  /** Model of the authenticator; zeros if it does not say. */
  aaguid: string
  counter: number
  /** Whether the key may exist on several devices. */
  isSynced: boolean
  isBackedUp: boolean
}

type ReadChallenge = (challenge: string) => Challenge | undefined

/**
 * Checks the answer to creation options (WebAuthn Level 3 §7.1). Undefined if anything in it is wrong.
 * Certificates are refused unread: they were not asked for, and a certificate can name addresses that the
 * library would fetch.
 */
export async function verifyRegistration(
  { id: expectedRPID, origin: expectedOrigin }: RelyingParty,
  offer: PasskeyOffer,
  readChallenge: ReadChallenge,
): Promise<{ passkey: NewPasskey; challenge: Challenge } | undefined> {
  const { verifyRegistrationResponse } = await import('@simplewebauthn/server')
  const { decodeAttestationObject, decodeCredentialPublicKey } = await import(
    '@simplewebauthn/server/helpers'
  )
  return orUndefined(async () => {
    const { clientDataJSON, attestationObject } = offer.response
    const challenge = readClientData(clientDataJSON, readChallenge)
    const attestation = decodeAttestationObject(Buffer.from(attestationObject, 'base64url'))
    const format = attestation.get('fmt')
    const isBare = format === 'none' || (format === 'packed' && !attestation.get('attStmt').get('x5c'))
    if (challenge === undefined || !isBare) return undefined
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response: { ...offer, ...publicKeyCredential(offer) },
      expectedChallenge: () => true,
      expectedOrigin,
      expectedRPID,
      supportedAlgorithmIDs: algorithms,
    })
    if (!verified) return undefined
    const { credential, aaguid, credentialDeviceType, credentialBackedUp: isBackedUp } = registrationInfo
    const passkey = {
      id: credential.id,
      publicKey: Buffer.from(credential.publicKey).toString('base64url'),
      jwk: jwkOf(decodeCredentialPublicKey(credential.publicKey) as Map<number, unknown>),
      aaguid,
      counter: credential.counter,
      isSynced: credentialDeviceType === 'multiDevice',
      isBackedUp,
    }
    if (passkey.id !== offer.id || passkey.id.length > idLimit) return undefined
    return { passkey, challenge }
  })
}

/**
 * Checks the answer to request options (WebAuthn Level 3 §7.2) with the key of the passkey, except its
 * counter, which the caller compares. Undefined if anything in it is wrong.
 */
export async function verifyAssertion(
  { id: expectedRPID, origin: expectedOrigin }: RelyingParty,
  answer: PasskeyAnswer,
  { id, publicKey, isSynced }: { id: string; publicKey: string; isSynced: boolean },
  readChallenge: ReadChallenge,
): Promise<{ counter: number; challenge: Challenge } | undefined> {
  const { verifyAuthenticationResponse } = await import('@simplewebauthn/server')
  return orUndefined(async () => {
    const { userHandle: _, ...response } = answer.response
    const challenge = readClientData(response.clientDataJSON, readChallenge)
    if (challenge === undefined) return undefined
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: { id: answer.id, response, ...publicKeyCredential(answer) },
      expectedChallenge: () => true,
      expectedOrigin,
      expectedRPID,
      credential: { id, publicKey: Buffer.from(publicKey, 'base64url'), counter: 0 },
    })
    // A key that is kept on one device does not become one that is copied, or the other way round.
    const isSame = (authenticationInfo.credentialDeviceType === 'multiDevice') === isSynced
    return verified && isSame ? { counter: authenticationInfo.newCounter, challenge } : undefined
  })
}

/**
 * Whether the authenticator may have been cloned (WebAuthn Level 3 §6.1.1). One that does not count always
 * sends 0.
 */
export function hasCountedBack(counter: number, before: number): boolean {
  return counter < before || (counter === before && before > 0)
}

/** A stored key in the form of the log. */
export async function publicKeyOf({ publicKey }: { publicKey: string }): Promise<PublicKey> {
  const { decodeCredentialPublicKey } = await import('@simplewebauthn/server/helpers')
  const cose = decodeCredentialPublicKey(Buffer.from(publicKey, 'base64url'))
  return jwkOf(cose as Map<number, unknown>) as Record<string, string> & PublicKey
}

/**
 * The same key in the form of the log (RFC 7517). Throws if it is no key of its algorithm (RFC 9053 §7), such
 * as a point that is not on the curve.
 */
function jwkOf(cose: Map<number, unknown>): Record<string, string> {
  const [kty, alg, curve] = [1, 3, -1].map((label) => cose.get(label))
  const part = (label: number) => Buffer.from(cose.get(label) as Uint8Array).toString('base64url')
  const forms: Record<string, () => Record<string, string>> = {
    '2 -7 1': () => ({ kty: 'EC', crv: 'P-256', x: part(-2), y: part(-3) }),
    '1 -8 6': () => ({ kty: 'OKP', crv: 'Ed25519', x: part(-2) }),
    '3 -257': () => ({ kty: 'RSA', n: part(-1), e: part(-2) }),
  }
  const jwk = forms[alg === -257 ? `${kty} ${alg}` : `${kty} ${alg} ${curve}`]?.() ?? {}
  const { modulusLength = rsaMinimumBits } =
    createPublicKey({ key: jwk, format: 'jwk' }).asymmetricKeyDetails ?? {}
  if (modulusLength < rsaMinimumBits) throw new Error('a short key')
  return jwk
}

/** What the library also needs: values that never differ. */
function publicKeyCredential({ id: rawId }: { id: string }) {
  return { rawId, type: 'public-key', clientExtensionResults: {} } as const
}

/** Undefined for a challenge that is not valid, and for a page in a frame of another origin. */
function readClientData(clientDataJson: string, readChallenge: ReadChallenge): Challenge | undefined {
  const { challenge, crossOrigin } = JSON.parse(Buffer.from(clientDataJson, 'base64url').toString())
  return crossOrigin === true ? undefined : readChallenge(String(challenge))
}

/** The library throws for everything that is wrong with an answer. */
async function orUndefined<T>(check: () => Promise<T | undefined>): Promise<T | undefined> {
  try {
    return await check()
  } catch {
    return undefined
  }
}
