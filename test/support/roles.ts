import type { Permission } from '../../server/caller/permissions.ts'
import { withRawDatabase } from './database.ts'
import type { Service } from './service.ts'

/** The roles of a new database, and what each may do. */
export const firstRoles: Record<'Admin' | 'Operator' | 'Viewer', Permission[]> = {
  Admin: [
    'Accounts.Manage',
    'Log.Read',
    'Orders.Approve',
    'Orders.Create',
    'Orders.Note',
    'Orders.Read',
    'Policy.Manage',
    'Webhooks.Manage',
  ],
  Operator: ['Orders.Create', 'Orders.Note', 'Orders.Read'],
  Viewer: ['Orders.Read'],
}

/** A new role with exactly these permissions. The service sees it within five minutes. */
export async function addRole(
  service: Service,
  name: string,
  permissions: readonly Permission[],
): Promise<string> {
  await withRawDatabase(service.databaseUrl, async (db) => {
    await db.insertInto('roles').values({ name }).execute()
    if (permissions.length === 0) return
    await db
      .insertInto('role_permissions')
      .values(permissions.map((permission) => ({ role: name, permission })))
      .execute()
  })
  service.advance(301_000)
  return name
}
