import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { callTool, newAgent, proposal } from '../support/agents.ts'
import { eventually, storedOrder, visit } from '../support/browser/orders.ts'
import { openBrowser } from '../support/browser/person.ts'
import { approve, inDialog } from '../support/browser/question.ts'
import { createdId } from '../support/orders.ts'
import { startService } from '../support/service.ts'

const browser = openBrowser()
const service = await startService({ clockRuns: true, until: { after } })

describe('an order that an agent proposed', () => {
  const person = browser.stayingPerson({ service })
  const proposer = 'Proposed by'

  it('says so at the address that the agent gave, with its reason, and a person decides', async () => {
    const agent = await newAgent(service)
    const { id } = await callTool(agent.caller, 'propose_order', proposal('browser'))
    const { address } = await callTool(agent.caller, 'ask_for_decision', { id })
    const page = await visit(person, 'admin', new URL(address).pathname)
    await page.getByText(proposer).waitFor()
    const facts = await page.getByRole('region', { name: 'Order', exact: true }).textContent()
    assert.match(facts ?? '', new RegExp(`${proposer}${agent.clientId}, a program`))
    await page.getByText('They reordered.').waitFor()
    await approve(page).click()
    await inDialog(page, 'Approve').click()
    await eventually(async () => assert.equal((await storedOrder(service, id)).status, 1))
  })

  it('says so in a review, where an order of a person says nothing', async () => {
    const agent = await newAgent(service)
    const customer = `Review ${agent.clientId}`
    await callTool(agent.caller, 'propose_order', proposal('review', { customer }))
    await createdId(await service.bearer('operator'), { customer })
    const filter = encodeURIComponent(`customer="${customer}"`)
    const page = await visit(
      person,
      'admin',
      `/orders/review?filter=${filter}&orderBy=createdAtUtc&order=Asc`,
    )
    await page.getByText('1 of 2').first().waitFor()
    await page.getByText(proposer).waitFor()
    await page.keyboard.press('j')
    await page.getByText('2 of 2').first().waitFor()
    await page.getByText('Rule:').waitFor()
    assert.equal(await page.getByText(proposer).count(), 0)
  })
})
