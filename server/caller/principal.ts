import type { Permission } from './permissions.ts'

/** A person or service under the name at the time of the event: a later change of name changes no event. */
export interface Person {
  id: number
  name: string
  /** As it is printed next to the name; null or absent for none. */
  fullName?: string | null | undefined
}

/** The caller, the same for a session cookie and a bearer token. Services count as users. */
export interface Principal {
  id: number
  kind: 'user' | 'client'
  /** User name, or the clientId of a service. */
  userName: string
  /** The name of a person as it is printed, if there is one. */
  fullName: string | null
  /** As they were when the token or session was issued. */
  roles: readonly string[]
  /** The permissions of those roles now (at most PERMISSION_CACHE_TTL_SECONDS old). */
  permissions: ReadonlySet<Permission>
  via: 'session' | 'bearer'
  /** The user's stored IANA zone, if any. */
  timeZone: string | null
  /** Null for a service: nobody signed in. */
  signIn: SignIn | null
  standing: Standing
  /** Present for cookie callers. */
  session: SessionState | null
}

/** What a person started by giving a password or a passkey: a session or a token family. */
export interface SignIn {
  /** The id of the session or the token family. */
  id: string
  /** When either was last given, as far as the credential knows; milliseconds. */
  authenticatedAt: number
}

/** The facts about its caller's credential that a write checks again (standing.ts). */
export type Standing =
  | { via: 'session'; sessionId: string }
  /** The date that the token carries. */
  | { via: 'bearer'; credentialsChangedAt: number }

/** A valid session, as the request that presented it found it. Instants are in milliseconds. */
export interface SessionState extends SignIn {
  /** The passkey that was last given; null for the password and a company account. */
  passkeyId: string | null
  byCompany: boolean
  /** Hash of the session id that the request presented. */
  presentedIdHash: string
  antiforgeryBinding: string
  lastSeenAt: number
  absoluteExpiresAt: number
}
