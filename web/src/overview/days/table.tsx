import { stateNames } from '../../orders/states.ts'
import { formatCount, formatTotal } from '../../ui/format.ts'
import { countOf, type Figures, type Tallies, tallyOf, totalOf } from '../figures.ts'
import { formatDate } from '../words.ts'

/** The figures and the chart in exact numbers, latest day first. */
export function DayTable({ figures: { days, span, all } }: { figures: Figures }) {
  return (
    <details className="day-table">
      <summary className="label soft small">Show numbers</summary>
      <div className="card">
        <table>
          <caption className="visually-hidden">Orders by day of creation and status</caption>
          <thead>
            <tr>
              <th scope="col">Day</th>
              {[...stateNames, 'Orders', 'Value'].map((name) => (
                <th key={name} scope="col" className="number" data-column={name}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {days.toReversed().map((day) => (
              <Row key={day.date} name={formatDate(day.date)} tallies={day} />
            ))}
          </tbody>
          <tfoot>
            <Row name={`These ${days.length} days`} tallies={span} />
            <Row name="All orders" tallies={all} />
          </tfoot>
        </table>
      </div>
    </details>
  )
}

function Row({ name, tallies }: { name: string; tallies: Tallies }) {
  return (
    <tr>
      <th scope="row">{name}</th>
      {stateNames.map((state) => (
        <td key={state} className="number">
          {formatCount(tallyOf(tallies, state).count)}
        </td>
      ))}
      <td className="number" data-column="Orders">
        {formatCount(countOf(tallies))}
      </td>
      <td className="number">{formatTotal(totalOf(tallies))}</td>
    </tr>
  )
}
