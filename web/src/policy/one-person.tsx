import { useQuery } from '@tanstack/react-query'
import { Refused } from '../administration/pieces.tsx'
import { useAction } from '../auth/action.ts'
import { useMay, useUser } from '../auth/session.ts'
import { type Policy, policyQuery } from '../orders/queries.ts'
import { formatTotal } from '../ui/format.ts'
import { Note } from '../ui/note.tsx'
import { acceptPolicy, savePolicy } from './queries.ts'
import { needsNobodyElse, secondPersonFrom, withSecondPerson } from './second-person.ts'

/** Says to people who may change the policy that one person can do it all, and offers to change that. */
export function OnePerson() {
  const { data: policy } = useQuery({ ...policyQuery, enabled: useMay('Policy.Manage') })
  const user = useUser()
  const saving = useAction(
    ({ rows, etag }: Policy) => savePolicy(user.id, withSecondPerson(rows), etag),
    (saved) => {
      acceptPolicy(saved)
      document.querySelector('h1')?.focus()
    },
  )
  if (policy === undefined || !needsNobodyElse(policy.rows)) return null
  const action = {
    name: saving.isPending ? 'Saving …' : `Require a second person from ${formatTotal(secondPersonFrom)}`,
    act: () => saving.act(policy),
  }
  return (
    <>
      <Note kind="warning" title="One person can create and approve the same order" action={action} />
      <Refused failure={saving.error} />
    </>
  )
}
