import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query'
import type { components } from '../../../client/src/schema.ts'
import { answerOf, client } from '../api/client.ts'
import { queries } from '../api/queries.ts'
import { useMay } from '../auth/session.ts'
import { Unsendable } from '../ui/describe.ts'

type Schemas = components['schemas']
export type UserAccount = Schemas['UserAccount']

/** Only a one-time link signs this user in, and nothing has yet. */
export const isInvited = (user: UserAccount) =>
  !user.hasPassword && !user.hasCompanyAccount && user.lastSignInAtUtc === null

export type ClientAccount = Schemas['ClientAccount']
export type Role = Schemas['Role']
type SignIn = Schemas['SignIn']
export type UserChanges = Schemas['ChangeUserCommand']
export type ClientChanges = Schemas['ChangeClientCommand']

const key = 'administration'
export const pageSize = 50

/** Shows a change in every view. */
const changed = () => queries.invalidateQueries({ queryKey: [key] })

export const useUsers = (pageNumber: number, filter: string) =>
  useQuery({
    queryKey: [key, 'users', pageNumber, filter],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) =>
      answerOf(client.GET('/v1/users', { params: { query: { pageNumber, pageSize, filter } }, signal })),
  })

export const useUserAccount = (id: number) =>
  useQuery({
    queryKey: [key, 'user', id],
    enabled: useMay('Accounts.Manage'),
    queryFn: async ({ signal }) => {
      const { data, etag = '*' } = await client.GET('/v1/users/{id}', { params: { path: { id } }, signal })
      return { account: data, etag }
    },
  })

export const userSignInsQuery = (id: number) =>
  queryOptions({
    queryKey: [key, 'user', id, 'sessions'],
    queryFn: ({ signal }): Promise<SignIn[]> =>
      Array.fromAsync(client.each('/v1/users/{id}/sessions', { params: { path: { id } }, signal })),
    staleTime: 0,
  })

export const userPasskeysQuery = (id: number) =>
  queryOptions({
    queryKey: [key, 'user', id, 'passkeys'],
    queryFn: ({ signal }): Promise<Schemas['Passkey'][]> =>
      Array.fromAsync(client.each('/v1/users/{id}/passkeys', { params: { path: { id } }, signal })),
  })

export async function removeUserPasskey(id: number, passkey: string): Promise<void> {
  const params = { path: { id, passkey } }
  await client.DELETE('/v1/users/{id}/passkeys/{passkey}', { params }).finally(changed)
}

export const userAbsenceQuery = (id: number) =>
  queryOptions({
    queryKey: [key, 'user', id, 'absence'],
    queryFn: ({ signal }) =>
      answerOf(client.GET('/v1/users/{id}/absence', { params: { path: { id } }, signal })),
  })

export async function endUserAbsence(id: number): Promise<void> {
  await client.DELETE('/v1/users/{id}/absence', { params: { path: { id } } }).finally(changed)
}

export const useServices = (pageNumber: number, filter: string) =>
  useQuery({
    queryKey: [key, 'clients', pageNumber, filter],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) =>
      answerOf(client.GET('/v1/clients', { params: { query: { pageNumber, pageSize, filter } }, signal })),
  })

export const useServiceAccount = (id: number) =>
  useQuery({
    queryKey: [key, 'client', id],
    enabled: useMay('Accounts.Manage'),
    queryFn: async ({ signal }) => {
      const { data, etag = '*' } = await client.GET('/v1/clients/{id}', { params: { path: { id } }, signal })
      return { account: data, etag }
    },
  })

export const rolesQuery = queryOptions({
  queryKey: [key, 'roles'],
  queryFn: ({ signal }): Promise<Role[]> => Array.fromAsync(client.each('/v1/roles', { signal })),
})

export const permissionsQuery = queryOptions({
  queryKey: [key, 'permissions'],
  queryFn: ({ signal }): Promise<{ name: string; services: boolean }[]> =>
    Array.fromAsync(client.each('/v1/permissions', { signal })),
})

/** Adds a user and creates the link by which they set a password. */
export async function inviteUser(body: Schemas['AddUserCommand']): Promise<{ id: number; link: UserLink }> {
  const { id } = await answerOf(client.POST('/v1/users', { body }))
  return { id, link: await makeLink(id) }
}

export type UserLink = Schemas['UserLink']

export async function makeLink(id: number): Promise<UserLink> {
  const link = await answerOf(client.POST('/v1/users/{id}/links', { params: { path: { id } } }))
  await changed()
  return link
}

/**
 * Changes the version that the person saw, and returns the tag of the new one. Throws `ProblemError`
 * (`precondition-failed` when someone else was first).
 */
export async function changeUser(id: number, etag: string, body: UserChanges): Promise<string> {
  const params = { path: { id }, header: { 'If-Match': etag } }
  const { etag: next = '' } = await client.PATCH('/v1/users/{id}', { params, body }).finally(changed)
  return next
}

export async function endUserSignIn(id: number, session: string): Promise<void> {
  await client
    .DELETE('/v1/users/{id}/sessions/{session}', { params: { path: { id, session } } })
    .finally(changed)
}

export async function signOutUser(id: number): Promise<void> {
  await client.DELETE('/v1/users/{id}/sessions', { params: { path: { id } } }).finally(changed)
}

/** The id of the user with this name or email; null for an empty text. Throws `Unsendable`. */
export async function ownerIdOf(text: string): Promise<number | null> {
  const wanted = text.trim().toLowerCase()
  if (wanted === '') return null
  for await (const { id, userName, email } of client.each('/v1/users', {
    params: { query: { filter: wanted, pageSize: 100 } },
  })) {
    if ([userName.toLowerCase(), email].includes(wanted)) return id
  }
  throw new Unsendable(`There is no user ${text.trim()}.`)
}

export async function addService(body: Schemas['AddClientCommand']) {
  const added = await answerOf(client.POST('/v1/clients', { body }))
  await changed()
  return added
}

/** Like `changeUser`. */
export async function changeService(id: number, etag: string, body: ClientChanges): Promise<string> {
  const params = { path: { id }, header: { 'If-Match': etag } }
  const { etag: next = '' } = await client.PATCH('/v1/clients/{id}', { params, body }).finally(changed)
  return next
}

export async function rotateSecret(id: number): Promise<string> {
  const { clientSecret } = await answerOf(
    client.POST('/v1/clients/{id}/secrets', { params: { path: { id } }, body: { dropOld: false } }),
  )
  await changed()
  return clientSecret
}

export async function dropOldSecrets(id: number): Promise<void> {
  await client.DELETE('/v1/clients/{id}/secrets', { params: { path: { id } } }).finally(changed)
}

type Permissions = Schemas['SetRolePermissionsCommand']['permissions']

export async function addRole(name: string, permissions: Permissions = []): Promise<void> {
  await client.POST('/v1/roles', { body: { name, permissions } })
  await changed()
}

export async function removeRole(name: string): Promise<void> {
  await client.DELETE('/v1/roles/{name}', { params: { path: { name } } }).finally(changed)
}

export interface Allowing {
  role: string
  permission: string
  isAllowed: boolean
}

/** Gives or takes one permission. Changes that others made to the role stay. */
export async function allow({ role, permission, isAllowed }: Allowing): Promise<void> {
  const path = { name: role }
  const { data, etag = '*' } = await client.GET('/v1/roles/{name}', { params: { path } })
  const others = data.permissions.filter((held) => held !== permission)
  const permissions = (isAllowed ? [...others, permission] : others) as Permissions
  const params = { path, header: { 'If-Match': etag } }
  await client.PUT('/v1/roles/{name}', { params, body: { permissions } }).finally(changed)
}
