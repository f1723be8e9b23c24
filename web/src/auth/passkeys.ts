import { requirePurpose } from '../../../client/src/browser.ts'
import type { components } from '../../../client/src/schema.ts'
import { answerOf, client } from '../api/client.ts'
import { problemOf } from '../api/problem.ts'

type Schemas = components['schemas']

/** Every browser has the JSON forms of WebAuthn Level 3 since March 2025. */
export const knowsPasskeys = 'parseRequestOptionsFromJSON' in (globalThis.PublicKeyCredential ?? {})

/** Asks the person to let an authenticator make a passkey. Rejects when they cancel. */
export async function makePasskey(options: Schemas['PasskeyCreationOptions']) {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(
    options as PublicKeyCredentialCreationOptionsJSON,
  )
  const made = (await navigator.credentials.create({ publicKey })) as PublicKeyCredential
  return made.toJSON() as Schemas['AddPasskeyCommand']['credential']
}

/**
 * Asks the person for a touch. Rejects when they cancel. With `conditional`, the browser offers passkeys in
 * the form of the sign-in instead of asking.
 */
export async function touch(
  options: Schemas['PasskeyRequestOptions'],
  asked: Pick<CredentialRequestOptions, 'mediation' | 'signal'> = {},
) {
  requirePurpose(options.challenge)
  return touchOver(options, asked)
}

/** Signs the challenge, whatever it is for: `signDecisions` has checked it, or `touch`. */
export async function touchOver(
  options: Schemas['PasskeyRequestOptions'],
  { mediation, signal }: Pick<CredentialRequestOptions, 'mediation' | 'signal'> = {},
) {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(
    options as PublicKeyCredentialRequestOptionsJSON,
  )
  const asked = { publicKey, ...(mediation && { mediation }), ...(signal && { signal }) }
  const given = (await navigator.credentials.get(asked)) as PublicKeyCredential
  return given.toJSON() as Schemas['PasskeySignInCommand']['credential']
}

/** Options of a sign-in; nobody is named yet. */
export const signInOptions = () => answerOf(client.POST('/v1/auth/session/passkey/options'))

/** Options for giving a passkey again; undefined if the person has none, or none can be used here. */
export async function confirmationOptions(): Promise<Schemas['PasskeyRequestOptions'] | undefined> {
  if (!knowsPasskeys) return undefined
  const options = await answerOf(client.POST('/v1/auth/session/confirm/options')).catch(() => undefined)
  return options && options.allowCredentials.length > 0 ? options : undefined
}

/** Whether the person closed the browser's question, or let it run out. */
export function wasCancelled(failure: unknown): boolean {
  return failure instanceof DOMException && ['NotAllowedError', 'AbortError'].includes(failure.name)
}

/** Why a touch did not work, if the browser says so. */
export function touchFailure(failure: unknown): string | undefined {
  const copied = problemOf(failure, 'passkey-counter')
  if (copied) return `${copied.title}. ${copied.detail}`
  if (!(failure instanceof DOMException)) return undefined
  if (failure.name === 'InvalidStateError') return 'This device already has a passkey for your account.'
  if (failure.name === 'NotSupportedError') {
    return 'This browser cannot use passkeys. Browsers released since March 2025 can.'
  }
  if (failure.name === 'SecurityError') return 'Passkeys do not work at this address.'
  return wasCancelled(failure) ? 'No passkey was used.' : 'The passkey could not be used.'
}
