import type { FastifyRequest } from 'fastify'
import { formatInstant, formatInstantOrNull } from '../../../clock.ts'
import type { PageRequest } from '../../../http/paging.ts'
import { ending, list, pageOf, readStamp } from '../../../http/resource.ts'
import { callerOf, locationHeader, type Routes, route } from '../../../http/route.ts'
import { strandedHeader, tellStranded } from '../../../http/stranded.ts'
import { PasskeyRequestOptions } from '../../../http/webauthn.ts'
import { Problem } from '../../../problems/problems.ts'
import {
  algorithms,
  handleOf,
  relyingPartyOf,
  requireRelyingParty,
  verifyRegistration,
} from '../../credentials/passkeys/ceremonies.ts'
import {
  type Answerer,
  challengeLifetimeMilliseconds,
  type Purpose,
} from '../../credentials/passkeys/challenges.ts'
import { findPasskeys } from '../../credentials/passkeys/store.ts'
import { clearSession } from '../../credentials/sessions/cookies.ts'
import type { AuthParts } from '../../login.ts'
import {
  idParameter,
  managing,
  presentedSignIn,
  requireId,
  requireUserId,
} from '../administration/requests.ts'
import {
  AddPasskeyCommand,
  AddPasskeyResponse,
  PaginatedListOfPasskey,
  PasskeyCreationOptions,
  RenamePasskeyCommand,
} from './schemas.ts'

const passkeyIdPattern = /^[A-Za-z0-9_-]{1,1364}$/
const passkeyId = {
  description: 'Id of the passkey, as in the list.',
  schema: { type: 'string' },
  example: 'Aq7n3v0yT1u8w7x6',
}

/** The ceremonies of WebAuthn Level 3, and the caller's own passkeys (section 19 of the contract). */
export const passkeyRoutes: Routes<AuthParts> = {
  beginPasskeyEnrolment: route('POST /v1/auth/passkeys/options', {
    summary: 'Begin to add a passkey',
    description: 'Creation options for `navigator.credentials.create`. Nothing is stored.',
    access: 'person',
    needsRecentSignIn: true,
    problems: ['passkeys-unavailable'],
    response: { 200: PasskeyCreationOptions },
    handler: async (parts, request) => {
      const { id, userName } = callerOf(request)
      const party = requireRelyingParty(parts.publicUrl())
      return {
        rp: { id: party.id, name: 'Countersign' },
        user: { id: handleOf(id), name: userName, displayName: userName },
        challenge: parts.challenges.make('enrolment', answererOf(request), parts.clock()),
        pubKeyCredParams: algorithms.map((alg) => ({ type: 'public-key', alg })),
        timeout: challengeLifetimeMilliseconds,
        excludeCredentials: await descriptorsOf(parts, id),
        authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification },
        attestation: 'none',
      }
    },
  }),
  addPasskey: route('POST /v1/auth/passkeys', {
    summary: 'Add a passkey',
    description:
      'Takes what `navigator.credentials.create` made of the options, in the same sign-in. The log keeps the public key, and what this sign-in rested on.',
    access: 'person',
    needsRecentSignIn: true,
    problems: ['passkey-invalid', 'too-many-passkeys', 'passkeys-unavailable'],
    responseHeaders: { 201: [locationHeader] },
    body: AddPasskeyCommand,
    response: { 201: AddPasskeyResponse },
    handler: async (parts, request, reply) => {
      const { credential, ...values } = request.body
      const party = requireRelyingParty(parts.publicUrl())
      const read = (challenge: string) =>
        parts.challenges.read(challenge, 'enrolment', answererOf(request), parts.clock())
      const verified = await verifyRegistration(party, credential, read)
      if (verified === undefined) throw new Problem('passkey-invalid')
      await parts.db.write('addPasskey', {
        ...values,
        ...verified,
        signIn: presentedSignIn(request),
        rpId: party.id,
        stamp: readStamp(request, parts),
      })
      const { id } = verified.passkey
      reply.code(201).header('location', `/v1/auth/passkeys/${id}`)
      return { id }
    },
  }),
  listPasskeys: list('/v1/auth/passkeys', {
    summary: "The caller's passkeys",
    description: 'Oldest first.',
    access: 'person',
    page: PaginatedListOfPasskey,
    find: (parts, page, request) => passkeysOf(parts, callerOf(request).id, page),
  }),
  renamePasskey: route('PATCH /v1/auth/passkeys/:id', {
    summary: 'Rename a passkey',
    description: 'The name is for its owner only.',
    access: 'person',
    problems: ['passkey-not-found'],
    parameters: { id: passkeyId },
    body: RenamePasskeyCommand,
    handler: async (parts, request) => {
      const id = requirePasskeyId(request, 'id')
      const stamp = readStamp(request, parts)
      await parts.db.write('renamePasskey', { ...request.body, id, stamp })
    },
  }),
  removePasskey: route('DELETE /v1/auth/passkeys/:id', {
    summary: 'Remove a passkey',
    description:
      'Ends the sign-ins that the passkey began, and all access tokens, which a refresh replaces. The last credential of an account stays.',
    access: 'person',
    needsRecentSignIn: true,
    problems: ['passkey-not-found', 'last-credential'],
    parameters: { id: passkeyId },
    responseHeaders: { 204: [strandedHeader] },
    handler: async (parts, request, reply) => {
      const { id: principalId, session } = callerOf(request)
      const id = requirePasskeyId(request, 'id')
      const rpId = rpIdOf(parts)
      const issuer = parts.config.oidcIssuer ?? null
      const stamp = readStamp(request, parts)
      const { ended } = await parts.change('removePasskey', { principalId, id, rpId, issuer, stamp })
      if (session && ended.includes(session.id)) clearSession(reply)
      await tellStranded(parts, request, reply)
    },
  }),
  beginPasskeySignIn: route('POST /v1/auth/session/passkey/options', {
    summary: 'Begin to sign in by passkey',
    description:
      'Request options for `navigator.credentials.get`. No user is named: the passkey says whose it is. Nothing is stored.',
    access: 'public',
    problems: ['passkeys-unavailable'],
    response: { 200: PasskeyRequestOptions },
    handler: async (parts) => requestOptions(parts, 'sign-in', null, []),
  }),
  beginConfirmation: route('POST /v1/auth/session/confirm/options', {
    summary: 'Begin to confirm by passkey',
    description: 'Request options for `navigator.credentials.get`, with the passkeys of the caller.',
    access: 'session',
    problems: ['passkeys-unavailable'],
    response: { 200: PasskeyRequestOptions },
    handler: async (parts, request) => {
      const own = await descriptorsOf(parts, callerOf(request).id)
      return requestOptions(parts, 'confirmation', answererOf(request), own)
    },
  }),
}

/** For administrators: the passkeys of any user. */
export const userPasskeyRoutes: Routes<AuthParts> = {
  listUserPasskeys: list('/v1/users/:id/passkeys', {
    summary: 'Passkeys of a user',
    description: 'Oldest first.',
    access: managing,
    problems: ['user-not-found'],
    parameters: idParameter,
    page: PaginatedListOfPasskey,
    find: async (parts, page, request) => passkeysOf(parts, await requireUserId(request, parts), page),
  }),
  removeUserPasskey: ending('/v1/users/:id/passkeys/:passkey', {
    summary: 'Remove a passkey of a user',
    description: 'Like `removePasskey`.',
    access: managing,
    problems: ['user-not-found', 'passkey-not-found', 'last-credential'],
    parameters: { ...idParameter, passkey: passkeyId },
    canStrand: true,
    end: async (parts, request, stamp) => {
      const principalId = requireId(request, 'user-not-found')
      const id = requirePasskeyId(request, 'passkey')
      const issuer = parts.config.oidcIssuer ?? null
      await parts.change('removePasskey', { principalId, id, rpId: rpIdOf(parts), issuer, stamp })
    },
  }),
}

const userVerification = 'required' as const

/** The id in the path. Throws `passkey-not-found` if no passkey can have it. */
function requirePasskeyId(request: FastifyRequest, name: string): string {
  const { [name]: id = '' } = request.params as Record<string, string>
  if (!passkeyIdPattern.test(id)) throw new Problem('passkey-not-found')
  return id
}

/** The host name of the service; at an IP address none, which no passkey has. */
export const rpIdOf = ({ publicUrl }: AuthParts) => relyingPartyOf(publicUrl())?.id ?? ''

function answererOf(request: FastifyRequest): Answerer {
  return { principalId: callerOf(request).id, signInId: presentedSignIn(request).id }
}

function requestOptions(
  { publicUrl, challenges, clock }: AuthParts,
  purpose: Purpose,
  answerer: Answerer,
  allowCredentials: { type: string; id: string }[],
) {
  const { id: rpId } = requireRelyingParty(publicUrl())
  const challenge = challenges.make(purpose, answerer, clock())
  return {
    challenge,
    timeout: challengeLifetimeMilliseconds,
    rpId,
    allowCredentials,
    userVerification,
  } as const
}

async function descriptorsOf({ db }: AuthParts, principalId: number) {
  const passkeys = await findPasskeys(db.read, principalId)
  return passkeys.map(({ id }) => ({ type: 'public-key', id }))
}

async function passkeysOf({ db }: AuthParts, principalId: number, page: PageRequest) {
  const passkeys = await findPasskeys(db.read, principalId)
  const items = passkeys.map(({ id, name, isSynced, createdAt, lastUsedAt }) => ({
    id,
    name,
    synced: isSynced,
    createdAtUtc: formatInstant(createdAt),
    lastUsedAtUtc: formatInstantOrNull(lastUsedAt),
  }))
  return pageOf(items, page)
}
