import { randomBytes } from 'node:crypto'
import Sqlite from 'better-sqlite3'
import { Passwords } from '../../server/auth/passwords.ts'
import { Client } from './client.ts'
import type { Service } from './service.ts'

const password = randomBytes(12).toString('base64url')
let passwordHash: Promise<string> | undefined
let made = 0

/** A new enabled user with these roles; all of them share one random password, for hashing is slow. */
export async function addUser(
  service: Service,
  roles: string[],
): Promise<{ email: string; password: string }> {
  passwordHash ??= new Passwords().hash(password)
  made += 1
  const userName = `made-${made}`
  const email = `${userName}@example.com`
  const added = await service.db.write('addUser', {
    userName,
    email,
    passwordHash: await passwordHash,
    timeZone: null,
    roles,
    nowMilliseconds: service.now() - 1_000,
  })
  if (!('id' in added)) throw new Error(`addUser: ${added.refused}`)
  return { email, password }
}

/** A role of its own with exactly these permissions. */
export function addRole(service: Service, name: string, permissions: string[]): string {
  const db = new Sqlite(service.databaseUrl.slice('file:'.length))
  try {
    db.prepare('insert into roles (name) values (?)').run(name)
    const insert = db.prepare('insert into role_permissions (role, permission) values (?, ?)')
    for (const permission of permissions) insert.run(name, permission)
  } finally {
    db.close()
  }
  return name
}

export async function bearerOf(
  service: Service,
  credentials: { email: string; password: string },
): Promise<Client> {
  const { body } = await new Client(service.baseUrl).post('/v1/auth/token', credentials)
  return new Client(service.baseUrl).withBearer(body.accessToken)
}

/** With its antiforgery token. */
export async function sessionOf(
  service: Service,
  credentials: { email: string; password: string },
): Promise<Client> {
  const caller = new Client(service.baseUrl)
  await caller.post('/v1/auth/session', credentials)
  await caller.fetchAntiforgeryToken()
  return caller
}
