import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { foundAccountsQuery } from '../administration/queries.ts'
import { useMay } from '../auth/session.ts'
import { useCalm } from '../ui/calm.ts'
import { calmMilliseconds, type Found } from './found-orders.ts'
import type { Entry } from './matching.ts'

/** One letter finds too many, and no name is longer than an email. */
const leastLetters = 2
const mostLetters = 254

/** The users and services whose names begin with the text, once typing has stopped. */
export function useFoundAccounts(text: string): Found {
  const navigate = useNavigate()
  const mayManage = useMay('Accounts.Manage')
  const name = text.trim()
  const isPossible = name.length >= leastLetters && name.length <= mostLetters
  const filter = mayManage && isPossible ? name : undefined
  const calm = useCalm(filter, calmMilliseconds)
  const query = useQuery({
    ...foundAccountsQuery(calm ?? ''),
    enabled: calm !== undefined && calm === filter,
  })
  if (filter === undefined) return { entries: [], state: 'none' }
  const isOfText = calm === filter && !query.isPlaceholderData
  if (!isOfText || query.data === undefined) {
    return { entries: [], state: isOfText && query.isError ? 'failed' : 'searching' }
  }
  const { users, services } = query.data
  const found = [
    ...users.map(
      ({ id, userName, email }): Entry => ({
        id: `user ${id}`,
        group: 'Users',
        name: userName,
        hint: email,
        run: () => void navigate({ to: '/accounts/users/$id', params: { id: String(id) } }),
      }),
    ),
    ...services.map(
      ({ id, clientId, displayName }): Entry => ({
        id: `service ${id}`,
        group: 'Services',
        name: clientId,
        hint: displayName,
        run: () => void navigate({ to: '/accounts/services/$id', params: { id: String(id) } }),
      }),
    ),
  ]
  return { entries: found, state: 'done' }
}
