import { queryOptions } from '@tanstack/react-query'
import { answerOf, client } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { onForget } from '../../auth/session.ts'
import { parametersOf } from '../address/address.ts'
import { type Question, searchOf } from '../address/question.ts'
import { pending } from '../states.ts'
import { type Course, type Mark, marked } from './course.ts'

/** The tab keeps the one review that it is in, so that a reload changes nothing of its orders and their number. */
const storageKey = 'countersign.review'
/** Where the browser keeps nothing, for this page only. */
let kept: { asked: string; course: Course } | undefined

onForget(forgetCourse)

/** Until `forgetCourse` the answer is the same, whatever happens to the orders: the way stays as it began. */
export function courseQuery(question: Question, userId: number | string) {
  const asked = JSON.stringify([userId, question.ids, searchOf(question)])
  return queryOptions({
    queryKey: ['review', asked],
    queryFn: async ({ signal }) => readKept(asked) ?? keep(asked, await ask(question, signal)),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: Number.POSITIVE_INFINITY,
  })
}

/** The next look asks anew. */
export function forgetCourse(): void {
  kept = undefined
  try {
    sessionStorage.removeItem(storageKey)
  } catch {
    // Then nothing was kept either.
  }
  queries.removeQueries({ queryKey: ['review'] })
}

/** `undefined` takes the mark away. */
export function mark(id: string, as: Mark | undefined): void {
  if (kept === undefined) return
  const course = marked(kept.course, id, as)
  queries.setQueryData(['review', kept.asked], course)
  keep(kept.asked, course)
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
  kept = { asked, course }
  try {
    sessionStorage.setItem(storageKey, JSON.stringify(kept))
  } catch {
    // Storage is full or forbidden.
  }
  return course
}

function readKept(asked: string): Course | undefined {
  try {
    kept ??= JSON.parse(sessionStorage.getItem(storageKey) ?? 'null') ?? undefined
  } catch {
    return undefined
  }
  return kept?.asked === asked ? kept.course : undefined
}
