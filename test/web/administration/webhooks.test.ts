import assert from 'node:assert/strict'
import { it } from 'node:test'
import '../../support/page.ts'

const { outcomeInWords } = await import('../../../web/src/administration/webhooks/words.ts')

it('an attempt names the host that does not exist', () => {
  const moreOf = (failure: string) =>
    outcomeInWords({ failure, status: null }, 'https://erp.example.com/hook').more
  assert.equal(moreOf('its name has no address (ENOTFOUND)'), 'No such host: erp.example.com')
  assert.equal(moreOf('it refused the connection (ECONNREFUSED)'), 'it refused the connection (ECONNREFUSED)')
})
