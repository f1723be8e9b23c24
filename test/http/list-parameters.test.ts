// engine: SQLite
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { assertProblem } from '../support/problem.ts'
import { setUp, testService } from '../support/service.ts'

describe('a parameter that a list does not have', () => {
  const service = testService()
  const admin = setUp(() => service.bearer('admin'))

  const refused: [path: string, parameter: string, detail: RegExp][] = [
    ['/v1/orders?status=Pending', 'status', /^status is called filter here, as in filter=status=Pending\.$/],
    ['/v1/orders?$filter=x', '$filter', /called filter/],
    ['/v1/orders?page_size=5', 'page_size', /called pageSize/],
    ['/v1/orders?per_page=5', 'per_page', /called pageSize/],
    ['/v1/orders?limit=5', 'limit', /called pageSize/],
    ['/v1/orders?$top=5', '$top', /called pageSize/],
    ['/v1/orders?pagesize=5', 'pagesize', /called pageSize/],
    ['/v1/orders?offset=5', 'offset', /called pageNumber/],
    ['/v1/orders?sort=total', 'sort', /called orderBy/],
    ['/v1/orders?$orderby=total', '$orderby', /called orderBy/],
    ['/v1/orders?sortBy=total', 'sortBy', /called orderBy/],
    ['/v1/orders?limit=', 'limit', /called pageSize/],
    ['/v1/users?search=ann', 'search', /called filter/],
    ['/v1/log?sort=x', 'sort', /is no parameter of this list. It takes after, /],
    ['/v1/roles?q=x', 'q', /is no parameter of this list. It takes pageNumber, pageSize\.$/],
  ]
  for (const [path, parameter, detail] of refused) {
    it(`is refused if other APIs call one so: ${path}`, async () => {
      const answer = await admin.get(path)
      assertProblem(answer, 400, 'unknown-parameter')
      const errors: { parameter: string; detail: string }[] = answer.body.errors
      assert.deepEqual(
        errors.map((error) => error.parameter),
        [parameter],
      )
      assert.match(String(errors[0]?.detail), detail)
    })
  }

  it('is ignored otherwise, as everywhere', async () => {
    for (const path of ['/v1/orders?utm_source=x&_=1&__proto__=1', '/v1/orders/summary?status=Pending']) {
      assert.equal((await admin.get(path)).status, 200)
    }
  })

  it('is listed together with every other fault', async () => {
    const answer = await admin.get('/v1/orders?limit=5&pageNumber=0')
    assertProblem(answer, 400, 'unknown-parameter')
    const errors: { parameter: string; detail: string }[] = answer.body.errors
    assert.deepEqual(
      errors.map((error) => error.parameter),
      ['limit', 'pageNumber'],
    )
  })
})
