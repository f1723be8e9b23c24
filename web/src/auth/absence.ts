import { queryOptions, useQuery } from '@tanstack/react-query'
import type { components } from '../../../client/src/schema.ts'
import { answerOf, client } from '../api/client.ts'
import { queries } from '../api/queries.ts'
import { currentSession, useMay } from './session.ts'

export type Absence = components['schemas']['Absence']

/** The person's own absence, and for whom they stand in now. Each view that opens reads it again. */
export const absenceQuery = queryOptions({
  queryKey: ['absence'],
  queryFn: ({ signal }) => answerOf(client.GET('/v1/auth/absence', { signal })),
})

/** Those in whose place the person may approve and reject orders, in the order in which they count. */
const namesIn = (absence: Absence | undefined) => absence?.standingInFor.map(({ name }) => name) ?? []

export const useAbsentPersons = () => namesIn(useQuery(absenceQuery).data)

/** Whether the person may approve and reject orders, in their own right or in someone's place. */
export function useMayDecide(): boolean {
  const absent = useAbsentPersons()
  return useMay('Orders.Approve') || absent.length > 0
}

/** Like `useMayDecide`, as far as it is known now. */
export function mayDecide(): boolean {
  const session = currentSession()
  if (session.kind !== 'signed-in') return false
  const absence = queries.getQueryData(absenceQuery.queryKey)
  return session.permissions.includes('Orders.Approve') || namesIn(absence).length > 0
}

/** Shows the absence of the person as it is now. */
export const absenceChanged = () => queries.invalidateQueries({ queryKey: absenceQuery.queryKey })
