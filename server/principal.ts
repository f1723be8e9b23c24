import type { Permission } from './permissions.ts'

/** The caller, the same for a session cookie and a bearer token. Services count as users. */
export interface Principal {
  id: number
  kind: 'user' | 'client'
  /** User name, or the clientId of a service. */
  userName: string
  /** As they were when the token or session was issued. */
  roles: readonly string[]
  /** What those roles hold now (at most PERMISSION_CACHE_TTL_SECONDS old). */
  permissions: ReadonlySet<Permission>
  via: 'session' | 'bearer'
  /** The user's stored IANA zone, if any. */
  timeZone: string | null
  /** Null for a service: nobody signed in. */
  signIn: SignIn | null
  /** Present for cookie callers. */
  session: SessionState | null
}

/** What a person's password began. */
export interface SignIn {
  /** The id of the session or the token family. */
  id: string
  /** When the password was last given, as far as the credential knows; milliseconds. */
  authenticatedAt: number
}

/** A valid session, as the request that presented it found it. Instants in milliseconds. */
export interface SessionState extends SignIn {
  /** Hash of the session id that the request presented. */
  presentedIdHash: string
  antiforgeryBinding: string
  lastSeenAt: number
  absoluteExpiresAt: number
}
