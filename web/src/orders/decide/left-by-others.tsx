import { Link } from '@tanstack/react-router'
import { Button } from 'react-aria-components/Button'
import { keepFocus } from '../../ui/focus.ts'
import { Note } from '../../ui/note.tsx'
import { mostSelected } from '../address/question.ts'
import { forgetCourse } from './course.ts'
import { dismissLeft, leftByOthers } from './left.ts'
import { decisionsInWords } from './words.ts'

/** What became of decisions whose page was closed, reloaded or lost. They are never sent later. */
export function LeftByOthers() {
  const all = [...leftByOthers.use()]
  return [false, true].map((isSent) => {
    const some = all.filter(([, left]) => left.isSent === isSent)
    if (some.length === 0) return null
    const dismiss = () => {
      dismissLeft(some.map(([key]) => key))
      keepFocus()
    }
    const is = some.length === 1
    const count = decisionsInWords(some.length)
    return (
      <Note
        key={String(isSent)}
        kind="warning"
        title={isSent ? `${count} got no answer` : `${count} ${is ? 'was' : 'were'} not sent`}
      >
        <p>
          {isSent
            ? `The page was closed before the answer came. Check whether ${is ? 'it' : 'each'} counted.`
            : `The page was closed or reloaded first, so nothing happened to the ${is ? 'order' : 'orders'}.`}
        </p>
        <div className="row">
          <Link
            to="/orders/review"
            search={{ ids: [...new Set(some.map(([, { id }]) => id))].slice(0, mostSelected).join(',') }}
            className="button button-small"
            onClick={() => {
              forgetCourse()
              dismiss()
            }}
          >
            Review {is ? 'the order' : 'the orders'}
          </Link>
          <Button className="button button-small" onPress={dismiss}>
            Dismiss
          </Button>
        </div>
      </Note>
    )
  })
}
