import { queryOptions } from '@tanstack/react-query'
import type { components } from '../../../client/src/schema.ts'
import { answerOf, client } from '../api/client.ts'
import { queries } from '../api/queries.ts'

type SignIn = components['schemas']['SignIn']

export const accountQuery = queryOptions({
  queryKey: ['account'],
  queryFn: ({ signal }) => answerOf(client.GET('/v1/auth/me/account', { signal })),
})

const signInsKey = ['sign-ins']

/** As many as there can be: a hundred sessions and a hundred token families. */
export const signInsQuery = queryOptions({
  queryKey: signInsKey,
  queryFn: ({ signal }): Promise<SignIn[]> => Array.fromAsync(client.each('/v1/auth/sessions', { signal })),
  staleTime: 0,
})

const signInsChanged = () => queries.invalidateQueries({ queryKey: signInsKey })

export async function endSignIn(id: string): Promise<void> {
  await client.DELETE('/v1/auth/sessions/{id}', { params: { path: { id } } })
  await signInsChanged()
}

export async function endOtherSignIns(): Promise<void> {
  await client.DELETE('/v1/auth/sessions')
  await signInsChanged()
}

export async function changePassword(passwords: {
  currentPassword: string
  newPassword: string
}): Promise<void> {
  await client.POST('/v1/auth/password', { body: passwords })
  await signInsChanged()
}
