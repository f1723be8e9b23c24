import { useQuery } from '@tanstack/react-query'
import { usePersistentWrite } from '../auth/persistent.ts'
import { useMay, useUser } from '../auth/session.ts'
import { policyQuery } from '../orders/queries.ts'
import { FailureNote } from '../ui/failure.tsx'
import { formatTotal } from '../ui/format.ts'
import { Note } from '../ui/note.tsx'
import { acceptPolicy, isConflict, savePolicy } from './queries.ts'
import { needsNobodyElse, secondPersonFrom, withSecondPerson } from './second-person.ts'

/** Says to people who may change the policy that one person can do it all, and offers to change that. */
export function OnePerson() {
  const { data: policy } = useQuery({ ...policyQuery, enabled: useMay('Policy.Manage') })
  const user = useUser()
  const saving = usePersistentWrite((saved: Parameters<typeof acceptPolicy>[0]) => {
    acceptPolicy(saved)
    document.querySelector('h1')?.focus()
  })
  if (policy === undefined || !needsNobodyElse(policy.rows)) return null
  const action = {
    name: saving.isPending ? 'Saving …' : `Require a second person from ${formatTotal(secondPersonFrom)}`,
    act: () => saving.send(() => savePolicy(user.id, withSecondPerson(policy.rows), policy.etag)),
  }
  const { failureReason } = saving
  return (
    <>
      <Note kind="warning" title="One person can create and approve the same order" action={action} />
      <div role="status">
        {failureReason !== null && !isConflict(failureReason) && <FailureNote failure={failureReason} />}
      </div>
    </>
  )
}
