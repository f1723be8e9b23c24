import { firstState, orderTransitions } from '../../../../client/src/facts.ts'
import { Moment } from '../../ui/moment.tsx'
import { Who } from '../../ui/name.tsx'
import { givenWords, missingOf, needWords } from '../approvals.ts'
import type { OrderApprovals } from '../order.ts'
import { ruleInWords } from '../policy.ts'
import { classesOf } from '../states.ts'

/** No policy can require more than this. */
const places = ['first', 'second', 'third', 'fourth', 'fifth']

interface ApprovalsProps {
  approvals: OrderApprovals
  isPending: boolean
}

/** How many approvals the order has and needs, by whom, and whether this person can give the next one. */
export function Approvals({ approvals, isPending }: ApprovalsProps) {
  const { given, required } = approvals
  return (
    <div>
      <dt className="soft">Approvals</dt>
      <dd className="stack gap-1 wrap">
        <p className="row">
          <strong>{givenWords(approvals)}</strong>
          <span className="row gap-1" aria-hidden="true">
            {places.slice(0, required).map((place, at) => (
              <span
                key={place}
                className={`sign ${classesOf(at < given.length ? orderTransitions.approve.to : firstState)}`}
              />
            ))}
          </span>
        </p>
        {isPending && missingOf(approvals) > 0 && <p className="no-print">{needWords(approvals)}</p>}
        <p className="soft rule">Rule: {ruleInWords({ ...approvals, approvals: required })}.</p>
        {given.length > 0 && (
          <ul>
            {given.map(({ by, byName, for: absent, forName, atUtc, signed }) => (
              <li key={`${by} ${atUtc}`}>
                <Who is={by} name={byName} for={absent} forName={forName} />
                {signed && <span className="soft"> · signed with a passkey</span>}
                <div>
                  <Moment instant={atUtc} timeZone={null} />
                </div>
              </li>
            ))}
          </ul>
        )}
      </dd>
    </div>
  )
}
