import assert from 'node:assert/strict'
import { it } from 'node:test'
import { browserClient } from '../../../client/src/browser.ts'
import { NoAnswerError } from '../../../client/src/problem.ts'

it('the time limit applies to a JSON answer, not to a whole list, which may take as long as it needs', async (t) => {
  const { mock } = t.mock.method(AbortSignal, 'timeout', () => AbortSignal.abort())
  const client = browserClient({
    baseUrl: 'http://localhost',
    retries: 0,
    fetch: async (_request, { signal }) => {
      signal?.throwIfAborted()
      return new Response('{}')
    },
  })
  await assert.rejects(client.GET('/v1/orders'), NoAnswerError)
  assert.equal((await client.export('/v1/orders', 'text/csv')).status, 200)
  assert.deepEqual(
    mock.calls.map(({ arguments: limit }) => limit),
    [[30_000]],
  )
})
