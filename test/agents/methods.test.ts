// engine: none
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { tool } from '../../server/agents/agents.ts'
import { resultOf } from '../../server/agents/methods.ts'
import { bodyOf } from '../../server/http/fields.ts'
import { Problem } from '../../server/problems/problems.ts'

/** The problem that the model reads, or that is thrown: then the client has to act. */
async function endOf(code: 'order-not-pending' | 'authentication-required' | 'database-unavailable') {
  const fails = tool({
    ...{ title: 'Fails', description: 'Fails.', permissions: [], isRead: true },
    input: bodyOf('Nothing', 'No arguments.', {}),
    output: { type: 'object', properties: {} },
    run: async () => {
      throw new Problem(code)
    },
  })
  const request = { principal: { permissions: new Set() }, originalUrl: '/v1/mcp', id: '1' }
  const parts = { tools: { fails }, publicUrl: () => 'https://orders.example.com' }
  const call = { parts, params: { name: 'fails' }, request, reply: {} } as never
  const result = resultOf('2025-11-25', { method: 'tools/call', params: {} }, call)
  return result.then(
    (answered) => ({ told: JSON.parse((answered as { content: [{ text: string }] }).content[0].text).code }),
    (thrown) => ({ thrown: thrown.code }),
  )
}

describe('a tool that fails', () => {
  it('is a result where the model can correct what it did', async () => {
    assert.deepEqual(await endOf('order-not-pending'), { told: 'order-not-pending' })
  })

  it('is a failure of the request where a token has ended meanwhile, or the service cannot answer now', async () => {
    for (const code of ['authentication-required', 'database-unavailable'] as const) {
      assert.deepEqual(await endOf(code), { thrown: code })
    }
  })
})
