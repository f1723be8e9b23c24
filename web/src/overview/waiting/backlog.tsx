import './backlog.css'
import { Link } from '@tanstack/react-router'
import { classesOf, waitingStates } from '../../orders/states.ts'
import { formatCount } from '../../ui/format.ts'
import type { Figures } from '../figures.ts'
import { type Age, agesOf } from './ages.ts'

/** How many orders have waited for how long; each bar leads to its orders. */
export function Backlog({ figures }: { figures: Figures }) {
  const ages = agesOf(figures)
  const most = Math.max(...ages.map(({ count }) => count))
  if (most === 0) return null
  return (
    <section className="card card-stack" aria-labelledby="backlog-title">
      <h2 id="backlog-title">Waiting by age</h2>
      <ul className="backlog">
        {ages.map((age) => (
          <li key={age.name}>
            {age.count === 0 ? (
              <span className="option backlog-age soft">
                <Row {...age} most={most} />
              </span>
            ) : (
              <Link
                to="/orders"
                search={{ filter: age.filter, orderBy: 'createdAtUtc' }}
                className="option backlog-age"
              >
                <Row {...age} most={most} />
              </Link>
            )}
          </li>
        ))}
      </ul>
    </section>
  )
}

function Row({ name, count, most }: Age & { most: number }) {
  return (
    <>
      <span>{name}</span>
      <span className="backlog-track" aria-hidden="true">
        {count > 0 && (
          <i className={`bar ${classesOf(waitingStates[0])}`} style={{ width: `${(100 * count) / most}%` }} />
        )}
      </span>
      <span className="number">
        {formatCount(count)}
        <span className="visually-hidden">{count === 1 ? ' order' : ' orders'}</span>
      </span>
    </>
  )
}
