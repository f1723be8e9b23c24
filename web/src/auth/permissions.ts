import type { Permission } from '../../../client/src/facts.ts'

/** Each permission in words. */
export const permissionWords: Record<Permission, string> = {
  'Orders.Read': 'See all orders and the figures',
  'Orders.Create': 'Create orders, and withdraw your own',
  'Orders.Approve': 'Approve and reject orders',
  'Orders.Note': 'Add notes to orders',
  'Log.Read': 'Read the log of all changes',
  'Policy.Manage': 'Change the approval policy',
  'Accounts.Manage': 'Manage users, services and roles',
  'Webhooks.Manage': 'Manage webhooks',
}

const known = Object.keys(permissionWords) as Permission[]

/** Permissions in words, in the order above. One that this version does not know keeps its name. */
export function inWords(permissions: readonly string[]): string[] {
  const held = known.filter((permission) => permissions.includes(permission))
  const unknown = permissions.filter((permission) => !(permission in permissionWords))
  return [...held.map((permission) => permissionWords[permission]), ...unknown]
}
