import { useQuery } from '@tanstack/react-query'
import { Button } from 'react-aria-components/Button'
import { Note } from '../ui/note.tsx'
import { type Policy, policyQuery } from './queries.ts'
import { PolicyTable } from './table.tsx'

/** Somebody else was first: what they saved, beside what the person has typed. */
export function PolicyConflict({ onReplace, onTake }: { onReplace(current: Policy): void; onTake(): void }) {
  const { data } = useQuery(policyQuery)
  return (
    <Note
      kind="warning"
      title="Somebody has changed the policy meanwhile"
      lines={[
        'Nothing of yours was saved, and nothing is lost: your rows are above. This is the policy now:',
      ]}
    >
      {data && (
        <>
          <PolicyTable rows={data.rows} caption="The policy now" />
          <div className="row">
            <Button className="button button-small" onPress={() => onReplace(data)}>
              Replace it with mine
            </Button>
            <Button className="button button-quiet button-small" onPress={onTake}>
              Take it, and drop mine
            </Button>
          </div>
        </>
      )}
    </Note>
  )
}
