import { useQuery } from '@tanstack/react-query'
import { Button } from 'react-aria-components/Button'
import { Note } from '../ui/note.tsx'
import { type Policy, policyQuery } from './queries.ts'
import { PolicyTable } from './table.tsx'

/** Someone else was first: shows what they saved below what the person has typed. */
export function PolicyConflict({ onReplace, onTake }: { onReplace(current: Policy): void; onTake(): void }) {
  const { data } = useQuery(policyQuery)
  return (
    <Note
      kind="warning"
      title="Someone else has changed the policy"
      lines={['Your changes were not saved, but they are still above. This is the policy now:']}
    >
      {data && (
        <>
          <PolicyTable rows={data.rows} caption="The policy now" />
          <div className="row">
            <Button className="button button-small" onPress={() => onReplace(data)}>
              Replace it with mine
            </Button>
            <Button className="button button-quiet button-small" onPress={onTake}>
              Keep it and discard mine
            </Button>
          </div>
        </>
      )}
    </Note>
  )
}
