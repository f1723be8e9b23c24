// engine: both
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ProblemCode } from '../../server/problems/catalogue.ts'
import type { Answer, Client } from '../support/client.ts'
import {
  compareOrders,
  createdId,
  insertOrders,
  type OrderRow,
  onlyOrders,
  orderRow,
  sendExactly,
  sortKeys,
  storedState,
  variedOrders,
} from '../support/orders.ts'
import { assertProblem } from '../support/problem.ts'
import { setUp, testService } from '../support/service.ts'

const notSortable =
  'x modifiedBy createdAt created_at version customer,total customer%20 -customer 0 __proto__ constructor cu%CC%8Astomer'
const parameters = ['pageNumber', 'pageSize', 'orderBy', 'order', 'filter', 'paginated']

describe('listOrders', () => {
  const service = testService()
  const viewer = setUp(() => service.bearer('viewer'))
  let rows = variedOrders(57)
  onlyOrders(service, [...rows])

  const list = async (query = '') => {
    const answer = await viewer.get(`/v1/orders${query === '' ? '' : `?${query}`}`)
    assert.equal(answer.status, 200, answer.text)
    return answer
  }
  const idsOf = ({ body }: Answer): string[] => body.items.map(({ id }: { id: string }) => id)
  const sorted = (orderBy: (typeof sortKeys)[number], direction: 'Asc' | 'Desc') =>
    rows.toSorted(compareOrders(orderBy, direction)).map(({ id }) => id)

  describe('succeeds', () => {
    it('answers the ten newest orders by default, with totals', async () => {
      const answer = await list()
      assert.deepEqual(idsOf(answer), sorted('createdAtUtc', 'Desc').slice(0, 10))
      const { items: _, ...envelope } = answer.body
      assert.deepEqual(envelope, {
        pageNumber: 1,
        totalPages: 6,
        totalCount: 57,
        hasPreviousPage: false,
        hasNextPage: true,
      })
    })

    it('answers exactly the five fields of a summary', async () => {
      const [row] = await insertOrders(service, [
        orderRow({
          customer: 'Summary',
          total_e4: 123_456,
          status: 1,
          created_at: 1_700_000_000_007,
          version: 2,
        }),
      ])
      rows.push(row as OrderRow)
      const { body } = await list('filter=customer%3DSummary')
      assert.deepEqual(body.items, [
        {
          id: row?.id,
          customer: 'Summary',
          total: 12.3456,
          status: 1,
          createdAtUtc: '2023-11-14T22:13:20.007Z',
        },
      ])
    })

    it('has no items, no pages and a count of 0 if nothing matches', async () => {
      const { body } = await list('filter=zzzz-nothing')
      const none = { totalPages: 0, totalCount: 0, hasPreviousPage: false, hasNextPage: false }
      assert.deepEqual(body, { items: [], pageNumber: 1, ...none })
    })

    it('answers no items and the correct totals past the end', async () => {
      const { body: all } = await list('pageSize=20')
      for (const pageNumber of [4, 1_000, 2_147_483_647]) {
        const { body } = await list(`pageSize=20&pageNumber=${pageNumber}`)
        assert.deepEqual(body, {
          items: [],
          pageNumber,
          totalPages: all.totalPages,
          totalCount: all.totalCount,
          hasPreviousPage: true,
          hasNextPage: false,
        })
      }
    })

    it('treats a page size above 100 as 100', async () => {
      const crowd = await insertOrders(
        service,
        Array.from({ length: 105 }, () => orderRow({ customer: 'Crowd', created_at: 1 })),
      )
      rows.push(...crowd)
      for (const pageSize of ['100', '101', '2147483647']) {
        const { body } = await list(`filter=customer%3DCrowd&pageSize=${pageSize}`)
        assert.deepEqual([body.items.length, body.totalPages, body.totalCount], [100, 2, 105], pageSize)
      }
      const { body } = await list('filter=customer%3DCrowd&pageSize=1000&pageNumber=2')
      assert.equal(body.items.length, 5)
    })

    it('shows a new order at once', async () => {
      const operator = await service.bearer('operator')
      const id = await createdId(operator, { customer: 'Brand new' })
      assert.equal(idsOf(await list())[0], id)
      rows = (await storedState(service)).orders
    })
  })

  describe('sorts', () => {
    for (const orderBy of sortKeys) {
      for (const direction of ['Asc', 'Desc'] as const) {
        it(`by ${orderBy} ${direction}, nulls last, ties by id in the same direction`, async () => {
          const answer = await list(`orderBy=${orderBy}&order=${direction}&paginated=false`)
          assert.deepEqual(idsOf(answer), sorted(orderBy, direction))
        })
      }

      it(`by ${orderBy} ascending when no direction is given, ignoring the case of its name`, async () => {
        for (const name of [orderBy, orderBy.toUpperCase(), orderBy.toLowerCase()]) {
          const answer = await list(`orderBy=${name}&pageSize=100`)
          assert.deepEqual(idsOf(answer), sorted(orderBy, 'Asc').slice(0, 100), name)
        }
      })
    }

    const spellings = { Asc: ['Asc', 'asc', 'ASC', '0'], Desc: ['Desc', 'dESC', '1'] }
    for (const direction of ['Asc', 'Desc'] as const) {
      it(`${direction} in every spelling, with and without orderBy`, async () => {
        for (const given of spellings[direction]) {
          const byTotal = await list(`orderBy=total&order=${given}&pageSize=100`)
          assert.deepEqual(idsOf(byTotal), sorted('total', direction).slice(0, 100))
          const byDefault = await list(`order=${given}&pageSize=100`)
          assert.deepEqual(idsOf(byDefault), sorted('createdAtUtc', direction).slice(0, 100))
        }
      })
    }
  })

  describe('without paging', () => {
    for (const text of ['false', 'False', 'FALSE']) {
      it(`answers every match as one page with paginated=${text}`, async () => {
        const { body } = await list(`paginated=${text}`)
        const ids = body.items.map(({ id }: { id: string }) => id)
        assert.deepEqual(ids, sorted('createdAtUtc', 'Desc'))
        const { items: _, ...envelope } = body
        assert.deepEqual(envelope, {
          pageNumber: 1,
          totalPages: 1,
          totalCount: rows.length,
          hasPreviousPage: false,
          hasNextPage: false,
        })
      })
    }

    for (const text of ['true', 'TRUE', 'tRue', '']) {
      it(`answers pages with paginated=${text}`, async () => {
        assert.deepEqual((await list(`paginated=${text}`)).body, (await list()).body)
      })
    }

    it('ignores pageNumber and pageSize, but validates them', async () => {
      assert.deepEqual(
        (await list('paginated=false&pageNumber=7&pageSize=2')).body,
        (await list('paginated=false')).body,
      )
      for (const query of ['paginated=false&pageNumber=0', 'paginated=false&pageSize=x']) {
        assertProblem(await viewer.get(`/v1/orders?${query}`), 400, 'validation-failed')
      }
    })
  })

  describe('filters', () => {
    const filters: [text: string, matches: (row: OrderRow) => boolean][] = [
      ['', () => true],
      ['status = Approved', (row) => row.status === 1],
      ['status=0', (row) => row.status === 0],
      ['total >= 2 total < 3', (row) => row.total_e4 >= 20_000 && row.total_e4 < 30_000],
      ['updatedAtUtc:*', (row) => row.updated_at !== null],
      ['NOT updatedAtUtc:*', (row) => row.updated_at === null],
      ['createdBy=alice OR createdBy=BOB', (row) => /^(alice|bob)$/i.test(row.created_by ?? '')],
      ['createdBy!=alice', (row) => row.created_by !== null && !/^alice$/i.test(row.created_by)],
      ['"zeb"', (row) => /zeb/i.test(row.customer)],
    ]
    for (const [text, matches] of filters) {
      it(`by ${text === '' ? 'nothing when it is empty' : text}`, async () => {
        const wanted = rows.filter(matches).toSorted(compareOrders('id', 'Asc'))
        assert.notEqual(wanted.length, 0)
        const query = `filter=${encodeURIComponent(text)}&orderBy=id`
        const whole = await list(`${query}&paginated=false`)
        assert.deepEqual(
          idsOf(whole),
          wanted.map(({ id }) => id),
        )
        const page = await list(`${query}&pageSize=2&pageNumber=2`)
        assert.deepEqual(
          idsOf(page),
          wanted.slice(2, 4).map(({ id }) => id),
        )
        assert.equal(page.body.totalCount, wanted.length)
      })
    }

    it('reads a plus as a space, and an escaped plus as a plus', async () => {
      rows.push(
        ...(await insertOrders(service, [
          orderRow({ customer: 'One + one' }),
          orderRow({ customer: 'One one' }),
        ])),
      )
      const customers = async (query: string) =>
        (await list(query)).body.items.map(({ customer }: { customer: string }) => customer)
      assert.deepEqual(await customers('filter=customer:%22one+one%22'), ['One one'])
      assert.deepEqual(await customers('filter=customer:%22one+%2B+one%22'), ['One + one'])
    })

    const faults: [text: string, position: number, length: number][] = [
      ['bogus=1', 0, 5],
      ['😀 bogus=1', 3, 5],
      ['status=', 7, 0],
    ]
    for (const [text, position, length] of faults) {
      it(`says where ${text} is wrong`, async () => {
        const answer = await viewer.get(`/v1/orders?filter=${encodeURIComponent(text)}`)
        assertProblem(answer, 400, 'invalid-filter')
        assert.equal(answer.body.errors.length, 1)
        const [error] = answer.body.errors
        assert.deepEqual(
          { parameter: error.parameter, position: error.position, length: error.length },
          { parameter: 'filter', position, length },
        )
        assert.equal(typeof error.detail, 'string')
        assert.ok(Array.isArray(error.expected))
      })
    }

    it('checks the other parameters first', async () => {
      const answer = await viewer.get('/v1/orders?filter=bogus%3D1&pageSize=0')
      assertProblem(answer, 400, 'validation-failed')
    })
  })

  describe('rejects input', () => {
    const parametersOf = ({ body }: Answer) =>
      body.errors.map((error: { parameter: string }) => error.parameter)
    const refused = async (query: string, names: string[]) => {
      const answer = await viewer.get(`/v1/orders?${query}`)
      assertProblem(answer, 400, 'validation-failed')
      assert.deepEqual(parametersOf(answer), names)
      return answer
    }

    const notPositiveInt32 = '0 -1 01 %2B1 +1 1.0 2147483648 -2147483649 x null %EF%BC%91 %00 [1]'.split(' ')
    for (const name of ['pageNumber', 'pageSize']) {
      it(`refuses anything but a positive int32 for ${name}`, async () => {
        for (const text of notPositiveInt32) await refused(`${name}=${text}`, [name])
      })

      it(`accepts every other int32 for ${name}`, async () => {
        for (const text of ['1', '10', '100', '2147483647', '%31']) await list(`${name}=${text}`)
      })
    }

    const wrong = {
      orderBy: ['customer desc', 'id;drop table orders', ...notSortable.split(' ')],
      order: 'x 2 -1 00 01 +0 ascending Asc%20 Asc,Desc de%C5%BFc null'.split(' '),
      paginated: 'x 0 1 yes no on off null true%20 +false f'.split(' '),
    }
    for (const [name, texts] of Object.entries(wrong)) {
      it(`refuses an invalid ${name}`, async () => {
        for (const text of texts) await refused(`${name}=${text}`, [name])
      })
    }

    it('names the possible sort keys', async () => {
      const { body } = await refused('orderBy=x', ['orderBy'])
      for (const name of sortKeys) assert.match(body.errors[0].detail, new RegExp(`\\b${name}\\b`))
    })

    const valid: Record<string, string> = { pageNumber: '1', pageSize: '5', orderBy: 'id', order: 'Asc' }
    for (const name of parameters) {
      it(`refuses ${name} given twice, alike or not, empty or not`, async () => {
        const value = valid[name] ?? 'true'
        await refused(`${name}=${value}&${name}=${value}`, [name])
        await refused(`${name}=&${name}=`, [name])
        await refused(`${name}=${value}&x=1&${encodeFirst(name)}=${value}`, [name])
      })

      it(`treats an empty ${name} as absent`, async () => {
        const { body } = await list('')
        for (const query of [`${name}=`, name, `${name}=&`, `&&${name}=`]) {
          assert.deepEqual((await list(query)).body, body, query)
        }
      })

      it(`refuses ${name} that is not percent-encoded UTF-8`, async () => {
        for (const text of ['%zz', '%ff']) {
          const answer = await sendExactly(viewer, 'GET', `/v1/orders?${name}=${text}`)
          assertProblem({ ...answer, setCookies: [] }, 400, 'validation-failed')
          assert.deepEqual(
            answer.body.errors.map((error: { parameter: string }) => error.parameter),
            [name],
          )
        }
      })
    }

    it('names every invalid parameter at once', async () => {
      await refused('pageNumber=0&pageSize=x&orderBy=x&order=x&filter=a&filter=b&paginated=x', parameters)
    })

    it('ignores unknown parameters, however they are written', async () => {
      const { body } = await list('pageSize=3')
      for (const query of [
        ...'x=1 x=1&x=2 x=%zz %zz=1&%zz=2'.split(' '),
        ...'pageSize%5B%5D=50 __proto__=1&constructor=2&__proto__=3 version=9 =5&=6'.split(' '),
      ]) {
        const answer = await sendExactly(viewer, 'GET', `/v1/orders?pageSize=3&${query}`)
        assert.equal(answer.status, 200, `${query}: ${answer.text}`)
        const text = JSON.stringify(body)
        assert.ok(answer.text.includes(text.slice(1, -1)), query)
      }
    })
  })

  it('changes nothing, whatever is asked', async () => {
    const stateBefore = await storedState(service)
    await viewer.get('/v1/orders?pageSize=0', { 'idempotency-key': 'k' })
    await viewer.get("/v1/orders?filter=customer:'%3B drop table orders --'", { 'if-match': '"1"' })
    assert.deepEqual(await storedState(service), stateBefore)
  })
})

describe('listOrders without paging', () => {
  const service = testService()
  onlyOrders(
    service,
    Array.from({ length: 10_001 }, (_, index) => orderRow({ status: Math.sign(index) })),
  )

  it('answers 10,000 matches, and answers 400 with count and limit for one more', async () => {
    const caller = await service.bearer('viewer')
    const most = await answerOf(caller, '/v1/orders?paginated=false&filter=status%3DApproved')
    assert.deepEqual([most.status, most.body.items.length, most.body.totalCount], [200, 10_000, 10_000])
    assert.deepEqual([most.body.pageNumber, most.body.totalPages], [1, 1])
    const tooMany = await answerOf(caller, '/v1/orders?paginated=false')
    assertProblem(tooMany, 400, 'result-too-large')
    assert.deepEqual([tooMany.body.totalCount, tooMany.body.limit], [10_001, 10_000])
    const paged = await caller.get('/v1/orders?pageSize=100&pageNumber=101')
    assert.deepEqual([paged.body.items.length, paged.body.totalPages], [1, 101])
  })
})

/** Asks again, as a caller does, while other tests keep the list from being ready within its limit. */
async function answerOf(caller: Client, path: string): Promise<Answer> {
  const answer = await caller.get(path)
  const tooSlow: ProblemCode = 'filter-too-expensive'
  return answer.body.code === tooSlow ? answerOf(caller, path) : answer
}

/** `pageSize` as `%70ageSize`. */
function encodeFirst(name: string): string {
  return `%${name.charCodeAt(0).toString(16)}${name.slice(1)}`
}
