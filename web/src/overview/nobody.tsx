import { queryOptions, useQuery } from '@tanstack/react-query'
import { answerOf, client } from '../api/client.ts'
import { useMay } from '../auth/session.ts'
import { Note } from '../ui/note.tsx'
import { type PolicyWarning, warningLines } from './words.ts'

const warningsQuery = queryOptions({
  queryKey: ['policy', 'warnings'],
  queryFn: async ({ signal }): Promise<PolicyWarning[]> => {
    const { rows } = await answerOf(client.GET('/v1/approval-policy', { signal }))
    return (await answerOf(client.POST('/v1/approval-policy/check', { body: { rows }, signal }))).warnings
  },
  retry: false,
})

/** Pending orders that too few enabled accounts may approve. Shown to people who may change the policy. */
export function WaitsForNobody() {
  const { data = [] } = useQuery({ ...warningsQuery, enabled: useMay('Policy.Manage') })
  const lines = warningLines(data)
  return lines.length > 0 && <Note kind="warning" title="Orders that could get stuck" lines={lines} />
}
