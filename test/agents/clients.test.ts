import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { newAgent, officialClients, proposal } from '../support/agents.ts'
import { publicUrl, setUp, testService } from '../support/service.ts'

interface Tool {
  name: string
  title: string
  description: string
  inputSchema: { examples: unknown[] }
  outputSchema: object
  annotations: Record<string, boolean>
}

for (const [release, connect] of Object.entries(officialClients)) {
  describe(`the official client, ${release}`, () => {
    const service = testService()
    const agent = setUp(() => newAgent(service))
    const client = setUp(() => connect(agent.caller))

    it('gets to know the service', () => {
      assert.equal(client.getServerVersion()?.name, 'countersign')
      assert.deepEqual(client.getServerCapabilities(), { tools: {}, resources: {} })
      assert.match(client.getInstructions() ?? '', /cannot approve/)
    })

    it('pings, if its revision has that', async () => {
      assert.deepEqual((await client.ping?.()) ?? {}, {})
    })

    it('lists the tools, each with schemas, annotations and an example', async () => {
      const { tools } = await client.listTools()
      assert.deepEqual(
        tools.map(({ name, annotations }: Tool) => [name, annotations.readOnlyHint]),
        [
          ['find_orders', true],
          ['read_order', true],
          ['propose_order', false],
          ['ask_for_decision', true],
        ],
      )
      for (const { title, description, inputSchema, outputSchema, annotations } of tools as Tool[]) {
        assert.ok(title && description && outputSchema)
        assert.ok(Array.isArray(inputSchema.examples))
        assert.equal(annotations.destructiveHint, false)
        assert.equal(annotations.openWorldHint, false)
        assert.equal(annotations.idempotentHint, true)
      }
    })

    it('proposes, reads, finds and asks, and each result fits its schema', async () => {
      await client.listTools()
      const call = async (name: string, given: Record<string, unknown>) => {
        const { structuredContent, isError } = await client.call(name, given)
        assert.equal(isError, false, name)
        return structuredContent
      }
      const { id } = await call('propose_order', proposal(`client ${release}`))
      const { order } = await call('read_order', { id })
      assert.equal(order.id, id)
      const { items } = await call('find_orders', { filter: id })
      assert.equal(items[0].id, id)
      const { address } = await call('ask_for_decision', { id })
      assert.match(address, new RegExp(`/orders/${id}$`))
    })

    it('gets a refusal as a result, and an unknown tool as an error', async () => {
      const refused = await client.call('propose_order', { customer: 'Acme' })
      assert.equal(refused.isError, true)
      await assert.rejects(client.call('approve_order', {}), { code: -32602 })
    })

    it('reads the resources', async () => {
      const { resources } = await client.listResources()
      const read = await client.readResource({ uri: resources[0].uri })
      assert.match(JSON.stringify(read.contents), /AIP-160/)
      const { resourceTemplates } = await client.listResourceTemplates()
      assert.deepEqual(
        resourceTemplates.map(({ uriTemplate }: { uriTemplate: string }) => uriTemplate),
        ['countersign://orders/{id}'],
      )
      await assert.rejects(client.readResource({ uri: 'countersign://orders/none' }))
    })

    it('cancels a call without harm: the same key finds what it did', async () => {
      const given = proposal(`cancelled ${release}`)
      const stop = new AbortController()
      const cancelled = client.call('propose_order', given, stop.signal)
      stop.abort()
      await assert.rejects(cancelled)
      const propose = async () => (await client.call('propose_order', given)).structuredContent
      const { id } = await propose()
      assert.deepEqual(await propose(), { id, address: `${publicUrl}/orders/${id}`, replayed: true })
    })
  })
}
