import { inSeries } from '../../ui/format.ts'
import { end } from '../address/question.ts'
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
