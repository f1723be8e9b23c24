import Sqlite from 'better-sqlite3'
import type { Permission } from '../../server/auth/permissions.ts'
import { testEngine } from './database.ts'
import type { Service } from './service.ts'

/** A role of its own with exactly these permissions; the service sees it when what it remembers is 5 minutes old. */
export async function addRole(
  service: Service,
  name: string,
  permissions: readonly Permission[],
): Promise<string> {
  const { db } = service
  const held = permissions.map((permission) => ({ role: name, permission }))
  if (testEngine === 'postgres') {
    await db.read.insertInto('roles').values({ name }).execute()
    await db.read.insertInto('role_permissions').values(held).execute()
  } else {
    const database = new Sqlite(service.databaseUrl.slice('file:'.length))
    database.prepare('insert into roles (name) values (?)').run(name)
    const insert = database.prepare('insert into role_permissions (role, permission) values (?, ?)')
    for (const { role, permission } of held) insert.run(role, permission)
    database.close()
  }
  service.advance(301_000)
  return name
}
