import { Link } from '@tanstack/react-router'
import { Button } from 'react-aria-components/Button'
import { formatOrders } from '../../ui/format.ts'
import { Key } from '../../ui/key.tsx'
import { PageTitle } from '../../ui/page-title.tsx'
import { useShortcut } from '../../ui/shortcuts.ts'
import { BackToList } from '../address/back.tsx'
import { mostSelected, type Question, searchOf } from '../address/question.ts'
import { type Course, courseInWords, forgetCourse, marked, type Place, skippedOf } from '../decide/course.ts'
import { useOnItsWay } from '../decide/sending.ts'
import { mineFilter } from '../states.ts'

interface EndProps {
  course: Course
  question: Question
  place: Place
  go(at: string): void
}

/** Shown after the last order: what was done, and what the person can do next. */
export function ReviewEnd({ question, place: { count, previous }, go, ...props }: EndProps) {
  const onItsWay = [...useOnItsWay()]
  const course = onItsWay.reduce((before, [id, action]) => marked(before, id, action), props.course)
  const skipped = skippedOf(course).slice(0, mostSelected)
  const list = searchOf(question)
  const back = () => previous !== undefined && go(previous)
  useShortcut('k', back)
  return (
    <article className="order">
      <BackToList known={list} />
      <div className="card empty">
        <PageTitle title={count === 0 ? 'No orders to review' : 'End of the review'} />
        <p className="soft">
          {count === 0
            ? question.filter?.endsWith(mineFilter)
              ? 'Nothing here is waiting for you.'
              : 'No orders match the search.'
            : `You went through ${formatOrders(count)}. ${courseInWords(course)}`}
        </p>
        <div className="row">
          {skipped.length > 0 && (
            <Link
              to="/orders/review"
              search={{ ...list, ids: skipped.join(',') }}
              className="button button-primary"
              onClick={forgetCourse}
              replace
            >
              Review the {skipped.length === 1 ? 'one' : skipped.length} skipped
            </Link>
          )}
          <Link to="/orders/review" search={list} className="button" onClick={forgetCourse} replace>
            Look for more
          </Link>
          {previous !== undefined && (
            <Button className="button" onPress={back}>
              Back
              <Key name="k" />
            </Button>
          )}
        </div>
      </div>
    </article>
  )
}
