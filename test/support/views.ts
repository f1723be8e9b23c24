import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { Answer, Client } from './client.ts'
import { storedEvents } from './kept-log.ts'
import type { Service } from './service.ts'

/** Body of a view. A test gives only the members that matter to it. */
export function viewOf(given: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    name: `View ${randomUUID()}`,
    filter: 'status=Pending AND total>=1000',
    sort: { orderBy: 'total', order: 1 },
    columns: ['id', 'customer', 'total'],
    ...given,
  }
}

export function putView(
  caller: Client,
  body: unknown,
  { id = randomUUID(), headers = {} }: { id?: string; headers?: Record<string, string> } = {},
): Promise<Answer> {
  return caller.send('PUT', `/v1/views/${id}`, body, headers)
}

/** Id of a new view of the caller. */
export async function keptView(caller: Client, given: Record<string, unknown> = {}): Promise<string> {
  const answer = await putView(caller, viewOf(given))
  assert.equal(answer.status, 201, answer.text)
  return answer.body.id
}

/** Everything that a change of a view may write. */
export async function storedViews({ db }: Service) {
  return {
    views: await db.read.selectFrom('views').selectAll().orderBy('id').execute(),
    events: (await storedEvents(db.read)).length,
  }
}
