import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { components } from '../../../client/src/schema.ts'
import { answerOf, client } from '../api/client.ts'
import { queries } from '../api/queries.ts'
import { absenceChanged } from '../auth/absence.ts'
import { makePasskey } from '../auth/passkeys.ts'
import { Unsendable } from '../ui/describe.ts'
import { instantOf } from './local-time.ts'

type SignIn = components['schemas']['SignIn']
type Passkey = components['schemas']['Passkey']
export type OwnMail = components['schemas']['OwnMail']

export const accountQuery = queryOptions({
  queryKey: ['account'],
  queryFn: ({ signal }) => answerOf(client.GET('/v1/auth/me/account', { signal })),
})

export async function unlinkCompany(): Promise<void> {
  await client.DELETE('/v1/auth/company')
  await queries.invalidateQueries(accountQuery)
}

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

export const passkeysQuery = queryOptions({
  queryKey: ['passkeys'],
  queryFn: ({ signal }): Promise<Passkey[]> => Array.fromAsync(client.each('/v1/auth/passkeys', { signal })),
})

const passkeysChanged = () => queries.invalidateQueries(passkeysQuery)

/** Makes a passkey with the browser. Rejects when the person cancels that. */
export async function addPasskey(name: string): Promise<void> {
  const credential = await makePasskey(await answerOf(client.POST('/v1/auth/passkeys/options')))
  await client.POST('/v1/auth/passkeys', { body: { name, credential } })
  await passkeysChanged()
}

export async function renamePasskey({ id, name }: { id: string; name: string }): Promise<void> {
  await client.PATCH('/v1/auth/passkeys/{id}', { params: { path: { id } }, body: { name } })
  await passkeysChanged()
}

export async function removePasskey(id: string): Promise<void> {
  await client.DELETE('/v1/auth/passkeys/{id}', { params: { path: { id } } })
  await Promise.all([passkeysChanged(), signInsChanged()])
}

export async function removePassword(): Promise<void> {
  await client.DELETE('/v1/auth/password')
  await Promise.all([queries.invalidateQueries(accountQuery), signInsChanged()])
}

export async function changePassword(passwords: {
  /** Undefined if there is none. */
  currentPassword: string | undefined
  newPassword: string
}): Promise<void> {
  const { currentPassword, newPassword } = passwords
  const body = currentPassword === undefined ? { newPassword } : { currentPassword, newPassword }
  await client.POST('/v1/auth/password', { body })
  await Promise.all([queries.invalidateQueries(accountQuery), signInsChanged()])
}

/** Asks for a link to the new address. */
export async function requestEmail(email: string): Promise<void> {
  await client.PUT('/v1/auth/email', { body: { email } })
}

/** The first of those whose names begin with the text. */
export const deputiesQuery = (filter: string) =>
  queryOptions({
    queryKey: ['deputies', filter],
    queryFn: async ({ signal }) => {
      const params = { query: { filter } }
      return (await answerOf(client.GET('/v1/auth/absence/deputies', { params, signal }))).items
    },
    retry: false,
    placeholderData: keepPreviousData,
  })

/** The texts of the form: local times, and the deputy's name. Throws `Unsendable` or `ProblemError`. */
export async function setAbsence(texts: { from: string; until: string; deputy: string }): Promise<void> {
  const name = texts.deputy.trim()
  const found = await queries.fetchQuery(deputiesQuery(name))
  const deputy = found.find((each) => each.name.toLowerCase() === name.toLowerCase())
  if (deputy === undefined)
    throw new Unsendable(`There is no deputy called ${name}. Choose one from the list.`)
  const from = texts.from === '' ? new Date().toISOString() : instantOf(texts.from)
  const body = { from, until: instantOf(texts.until), deputyId: deputy.id }
  await client.PUT('/v1/auth/absence', { body })
  await absenceChanged()
}

export async function endAbsence(): Promise<void> {
  await client.DELETE('/v1/auth/absence')
  await absenceChanged()
}

export const ownMailQuery = queryOptions({
  queryKey: ['own-mail'],
  queryFn: ({ signal }) => answerOf(client.GET('/v1/auth/me/mail', { signal })),
})

export async function setOwnMail(body: components['schemas']['SetOwnMailCommand']): Promise<void> {
  await client.PUT('/v1/auth/me/mail', { body })
  await queries.invalidateQueries(ownMailQuery)
}
