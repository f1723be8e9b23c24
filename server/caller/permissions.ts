/** The closed list of permissions; which role holds which is data (table role_permissions). */
export const permissions = [
  'Orders.Create',
  'Orders.Read',
  'Orders.Approve',
  'Orders.Note',
  'Log.Read',
  'Policy.Manage',
  'Accounts.Manage',
  'Webhooks.Manage',
] as const
export type Permission = (typeof permissions)[number]

/**
 * Permissions that control who decides and who is notified. Only people can hold them: a service never does,
 * whatever its roles.
 */
export const permissionsOfPeople: readonly Permission[] = [
  'Policy.Manage',
  'Accounts.Manage',
  'Webhooks.Manage',
]

export function isPermission(text: string | undefined): text is Permission {
  return (permissions as readonly (string | undefined)[]).includes(text)
}

/** Who may call a route. Every route declares one; the service does not start otherwise. */
export type Access =
  | 'public'
  /** A user by session cookie. */
  | 'session'
  /** A user by session cookie or bearer, no service. */
  | 'person'
  /** A user or a service by bearer; a cookie is not looked at. */
  | 'bearer'
  | 'authenticated'
  | Permission
