import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { browserClient } from '../../../client/src/browser.ts'
import { NoAnswerError } from '../../../client/src/problem.ts'

describe('the limit of an answer', () => {
  it('applies to an answer in JSON, not to a whole list, which may take any time', async (t) => {
    t.mock.method(AbortSignal, 'timeout', () => AbortSignal.abort())
    const client = browserClient({
      baseUrl: 'http://localhost',
      fetch: async (_request, { signal }) => {
        signal?.throwIfAborted()
        return new Response('{}')
      },
    })
    await assert.rejects(client.GET('/v1/orders'), NoAnswerError)
    assert.equal((await client.export('/v1/orders', 'text/csv')).status, 200)
  })
})
