/** The closed list of permissions; which role holds which is data (table role_permissions). */
export const permissions = [
  'Orders.Create',
  'Orders.Read',
  'Orders.Approve',
  'Orders.Note',
  'Log.Read',
  'Policy.Manage',
  'Views.Share',
] as const
export type Permission = (typeof permissions)[number]

/** A decision about who decides is a person's: whatever roles a service has, it does not hold these. */
export const permissionsOfPeople: readonly Permission[] = ['Policy.Manage']

export function isPermission(text: string | undefined): text is Permission {
  return (permissions as readonly (string | undefined)[]).includes(text)
}

/** Who may call a route. Every route declares one; the service does not start otherwise. */
export type Access = 'public' | 'session' | 'authenticated' | Permission
