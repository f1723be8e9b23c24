import { queryOptions } from '@tanstack/react-query'
import { answerOf, client } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { onForget } from '../../auth/session.ts'
import { inSeries } from '../../ui/format.ts'
import { inTab, parsed } from '../../ui/persist.ts'
import { parametersOf } from '../address/address.ts'
import { end, type Question, searchOf } from '../address/question.ts'
import { pending } from '../states.ts'
import type { DeedName } from './actions.ts'

/** What this person did with an order on the way. */
export type Mark = DeedName | 'skipped'

/** The orders of a review as they were when it began, in their order, and what has become of them since. */
export interface Course {
  orders: readonly { id: string; wasPending: boolean }[]
  marks: Readonly<Record<string, Mark>>
}

export interface Place {
  /** The order that is shown; undefined behind the last one. */
  order: Course['orders'][number] | undefined
  /** From 1. */
  number: number
  count: number
  /** What the address holds for the neighbours. */
  previous: string | undefined
  next: string
}

/** An order that the question does not find, as after another's link, is shown before all that it finds. */
export function placeIn({ orders: found }: Course, at: string | undefined): Place {
  const isFound = at === undefined || at === end || found.some(({ id }) => id === at)
  const orders = isFound ? found : [{ id: at, wasPending: false }, ...found]
  const known = orders.findIndex(({ id }) => id === at)
  const index = at === end ? orders.length : Math.max(known, 0)
  return {
    order: orders[index],
    number: index + 1,
    count: orders.length,
    previous: orders[index - 1]?.id,
    next: orders[index + 1]?.id ?? end,
  }
}

/** How far the review is: whoever skips an order may come back to it. A decision outlasts a second look. */
export function marked(course: Course, id: string, mark: Mark | undefined): Course {
  const { [id]: before, ...others } = course.marks
  if (mark === 'skipped' && before !== undefined) return course
  return { ...course, marks: mark === undefined ? others : { ...others, [id]: mark } }
}

export function skippedOf({ orders, marks }: Course): string[] {
  return orders.map(({ id }) => id).filter((id) => marks[id] === 'skipped')
}

/** As "You approved 12, rejected 2 and skipped 3." */
export function courseInWords(course: Course): string {
  const all = Object.values(course.marks)
  const parts = (Object.keys(verbs) as Mark[]).flatMap((mark) => {
    const count = all.filter((other) => other === mark).length
    return count === 0 ? [] : [`${verbs[mark]} ${count}`]
  })
  return parts.length === 0 ? 'You decided nothing.' : `You ${inSeries(parts)}.`
}

const verbs: Record<Mark, string> = {
  approve: 'approved',
  reject: 'rejected',
  withdraw: 'withdrew',
  skipped: 'skipped',
}

/** The tab keeps the one review that it is in: a reload changes neither its orders nor their number. */
const name = 'review'

/** `asked`: by whom, and what. */
function keptCourse(): { asked: string; course: Course } | undefined {
  return parsed(inTab.read(name)) as { asked: string; course: Course } | undefined
}

onForget(forgetCourse)

/** Until `forgetCourse` the answer is the same, whatever happens to the orders. */
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

/** The next review asks again. */
export function forgetCourse(): void {
  inTab.drop(name)
  queries.removeQueries({ queryKey: ['review'] })
}

/** `undefined` removes the mark. */
export function mark(id: string, as: Mark | undefined): void {
  const kept = keptCourse()
  if (kept === undefined) return
  const course = keep(kept.asked, marked(kept.course, id, as))
  queries.setQueryData(['review', kept.asked], course)
}

async function ask(question: Question, signal: AbortSignal): Promise<Course> {
  if (question.ids !== undefined) return courseOf(question.ids.split(',').map((id) => [id, pending]))
  const query = { ...parametersOf(searchOf(question)), paginated: false }
  const { items } = await answerOf(client.GET('/v1/orders', { params: { query }, signal }))
  return courseOf(items.map(({ id, status }) => [id, status]))
}

function courseOf(orders: (readonly [id: string, status: number])[]): Course {
  return { orders: orders.map(([id, status]) => ({ id, wasPending: status === pending })), marks: {} }
}

function keep(asked: string, course: Course): Course {
  inTab.write(name, JSON.stringify({ asked, course }))
  return course
}
