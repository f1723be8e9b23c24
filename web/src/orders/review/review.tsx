import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useMemo, useRef } from 'react'
import { Button } from 'react-aria-components/Button'
import { problemOf } from '../../api/problem.ts'
import { useMay, useUser } from '../../auth/session.ts'
import { FailureNote } from '../../ui/failure.tsx'
import { formatCount } from '../../ui/format.ts'
import { Key } from '../../ui/key.tsx'
import { PageHead } from '../../ui/page-title.tsx'
import { useShortcut } from '../../ui/shortcuts.ts'
import { BackToList } from '../address/back.tsx'
import { end, parseReviewSearch, type Question, searchOf } from '../address/question.ts'
import { type Course, courseQuery, mark, type Place, placeIn } from '../decide/course.ts'
import { OrderBody, useWholeOrder } from '../one/one.tsx'
import { prefetchOrder } from '../queries.ts'
import { waitingWord } from '../states.ts'
import { useIsUnreadable, WithoutReading } from '../without-reading.tsx'
import { AskSwitch } from './asking.tsx'
import { useReviewing } from './deciding.tsx'
import { ReviewEnd } from './end.tsx'
import { Meanwhile } from './meanwhile.tsx'

/** Goes through the orders of a list, one after another. The address holds the search and the place. */
export function ReviewView() {
  const address = useSearch({ from: '/signed-in/orders/review' })
  const { at, ...question } = useMemo(() => parseReviewSearch(address), [address])
  const { id } = useUser()
  const course = useQuery({ ...courseQuery(question, id), enabled: useMay('Orders.Read') })
  const failure = course.failureReason ?? course.error
  const isUnreadable = useIsUnreadable(failure)
  const go = useGo()
  if (course.data && !isUnreadable) return <Reviewed course={course.data} {...{ question, at, go }} />
  return (
    <article className="order" aria-busy={failure === null && !isUnreadable}>
      <BackToList known={searchOf(question)} />
      <PageHead title="Review" />
      {isUnreadable ? <WithoutReading /> : failure !== null && <NoCourse failure={failure} course={course} />}
    </article>
  )
}

function NoCourse({ failure, course }: { failure: unknown; course: { refetch(): void } }) {
  const tooLarge = problemOf(failure, 'result-too-large')
  if (tooLarge === undefined) return <FailureNote failure={failure} onRetry={() => void course.refetch()} />
  return (
    <div className="card empty">
      <h2>{formatCount(tooLarge.totalCount)} orders are too many for one review</h2>
      <p className="soft">
        A review takes at most {formatCount(tooLarge.limit)}. Search for fewer, or only for {waitingWord}{' '}
        ones.
      </p>
    </div>
  )
}

/** The whole review is one entry of the history: the browser's Back leads to the list. */
function useGo(): (at: string) => void {
  const navigate = useNavigate({ from: '/orders/review' })
  return (at) => void navigate({ search: (before) => ({ ...before, at }), replace: true })
}

interface ReviewedProps {
  course: Course
  question: Question
  at: string | undefined
  go(at: string): void
}

function Reviewed({ course, question, at, go }: ReviewedProps) {
  const place = placeIn(course, at)
  const { order } = place
  if (order === undefined) return <ReviewEnd {...{ course, question, place, go }} />
  return <ReviewedOrder key={order} id={order} {...{ question, place, go }} />
}

interface ReviewedOrderProps {
  id: string
  question: Question
  place: Place
  go(at: string): void
}

function ReviewedOrder({ id, question, place, go }: ReviewedOrderProps) {
  const whole = useWholeOrder(id)
  const view = useRef<HTMLElement>(null)
  const reviewing = useReviewing(view, whole.order.data, whole.events, () => go(place.next))
  usePrefetched(place.next)
  return (
    <>
      <article ref={view} className="order" aria-busy={whole.isPending}>
        <BackToList known={searchOf(question)} />
        <PlaceBar id={id} place={place} go={go} mayDecide={reviewing.possible.length > 0} />
        {whole.order.data && <Meanwhile order={whole.order.data.order} />}
        <OrderBody whole={whole} deciding={reviewing} place={`${placeInWords(place)}: `} />
        <AskSwitch />
      </article>
      {reviewing.dialog}
    </>
  )
}

interface PlaceBarProps {
  id: string
  place: Place
  mayDecide: boolean
  go(at: string): void
}

function PlaceBar({ id, place, mayDecide, go }: PlaceBarProps) {
  const { number, count, previous, next } = place
  function skip() {
    if (mayDecide) mark(id, 'skipped')
    go(next)
  }
  const back = () => previous !== undefined && go(previous)
  useShortcut('j', skip)
  useShortcut('k', back)
  return (
    <div className="row review-place no-print">
      <strong>{placeInWords(place)}</strong>
      <progress value={number - 1} max={count} aria-label="Orders reviewed so far" />
      <Button className="button button-small" aria-disabled={previous === undefined} onPress={back}>
        Back
        <Key name="k" />
      </Button>
      <Button className="button button-small" onPress={skip}>
        {mayDecide ? 'Skip' : 'Next'}
        <Key name="j" />
      </Button>
    </div>
  )
}

const placeInWords = ({ number, count }: Place) => `${formatCount(number)} of ${formatCount(count)}`

/** Fetches the next order, so that it is there after a decision. */
function usePrefetched(id: string): void {
  useEffect(() => {
    if (id !== end) prefetchOrder(id)
  }, [id])
}
