import { queryOptions } from '@tanstack/react-query'
import { answerOf, client } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { onForget } from '../../auth/session.ts'
import { inSeries } from '../../ui/format.ts'
import { inTab, parsed } from '../../ui/persist.ts'
import { parametersOf } from '../address/address.ts'
import { end, type Question, searchOf } from '../address/question.ts'
import { type ActionName, actionNames } from '../states.ts'
import { actions } from './actions.ts'

/** The person's action on an order of the review. */
export type Mark = ActionName | 'skipped'

/** The ids of the orders of a review, in their order when it began, and what this person did with them. */
export interface Course {
  orders: readonly string[]
  marks: Readonly<Record<string, Mark>>
}

export interface Place {
  /** The id of the order on the screen; undefined after the last one. */
  order: string | undefined
  /** Counted from 1. */
  number: number
  count: number
  /** The addresses of the previous and the next order. */
  previous: string | undefined
  next: string
}

/**
 * An order that the search does not find, as with someone else's link, comes before all that it finds.
 */
export function placeIn({ orders: found }: Course, at: string | undefined): Place {
  const isFound = at === undefined || at === end || found.includes(at)
  const orders = isFound ? found : [at, ...found]
  const index = at === end ? orders.length : Math.max(orders.indexOf(at ?? ''), 0)
  return {
    order: orders[index],
    number: index + 1,
    count: orders.length,
    previous: orders[index - 1],
    next: orders[index + 1] ?? end,
  }
}

/** A skipped order can be marked again. Skipping a decided order does not remove its mark. */
export function marked(course: Course, id: string, mark: Mark): Course {
  if (!course.orders.includes(id) || (mark === 'skipped' && course.marks[id] !== undefined)) return course
  return { ...course, marks: { ...course.marks, [id]: mark } }
}

export function skippedOf({ orders, marks }: Course): string[] {
  return orders.filter((id) => marks[id] === 'skipped')
}

/** Such as "You approved 12, rejected 2 and skipped 3." */
export function courseInWords(course: Course): string {
  const all = Object.values(course.marks)
  const parts = ([...actionNames, 'skipped'] as const).flatMap((mark) => {
    const count = all.filter((other) => other === mark).length
    return count === 0 ? [] : [`${mark === 'skipped' ? mark : actions[mark].past} ${count}`]
  })
  return parts.length === 0 ? 'You made no decisions.' : `You ${inSeries(parts)}.`
}

/** The tab stores its current review, so that a reload changes neither its orders nor their number. */
const name = 'review'

/** `asked` identifies the person and the question. */
function keptCourse(): { asked: string; course: Course } | undefined {
  return parsed(inTab.read(name)) as { asked: string; course: Course } | undefined
}

onForget(forgetCourse)

/** Stays the same until `forgetCourse`, whatever happens to the orders. */
export function courseQuery(question: Question, userId: number | string) {
  const asked = JSON.stringify([userId, question.ids, searchOf(question)])
  return queryOptions({
    queryKey: ['review', asked],
    async queryFn({ signal }) {
      const kept = keptCourse()
      return kept?.asked === asked ? kept.course : keep(asked, await ask(question, signal))
    },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: Number.POSITIVE_INFINITY,
  })
}

/** Makes the next review request its orders again. */
export function forgetCourse(): void {
  inTab.drop(name)
  queries.removeQueries({ queryKey: ['review'] })
}

/** A decision is marked once it was sent. */
export function mark(id: string, as: Mark): void {
  const kept = keptCourse()
  if (kept === undefined) return
  const course = keep(kept.asked, marked(kept.course, id, as))
  queries.setQueryData(['review', kept.asked], course)
}

async function ask(question: Question, signal: AbortSignal): Promise<Course> {
  if (question.ids !== undefined) return courseOf(question.ids.split(','))
  const query = { ...parametersOf(searchOf(question)), paginated: false }
  const { items } = await answerOf(client.GET('/v1/orders', { params: { query }, signal }))
  return courseOf(items.map(({ id }) => id))
}

const courseOf = (orders: Course['orders']): Course => ({ orders, marks: {} })

function keep(asked: string, course: Course): Course {
  inTab.write(name, JSON.stringify({ asked, course }))
  return course
}
