import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { newUser, tokenPair } from '../support/accounts.ts'
import type { Answer, Client } from '../support/client.ts'
import {
  compareOrders,
  createdId,
  insertOrders,
  type OrderRow,
  orderRow,
  sendExactly,
  sortKeys,
  storedState,
  variedOrders,
} from '../support/orders.ts'
import { assertProblem } from '../support/problem.ts'
import { addRole } from '../support/roles.ts'
import { type Service, startService } from '../support/service.ts'

const parameters = ['pageNumber', 'pageSize', 'orderBy', 'order', 'filter', 'paginated']

describe('listOrders', () => {
  let service: Service
  let viewer: Client
  let rows: OrderRow[]
  let whenEmpty: Answer[]
  before(async () => {
    service = await startService()
    addRole(service, 'Writer', ['Orders.Create', 'Orders.Approve'])
    viewer = await service.bearer('viewer')
    const paths = ['/v1/orders', '/v1/orders?pageNumber=3', '/v1/orders?paginated=false']
    whenEmpty = await Promise.all(paths.map((path) => viewer.get(path)))
    rows = await insertOrders(service, variedOrders(57))
  })
  after(() => service.close())

  const list = async (query = '') => {
    const answer = await viewer.get(`/v1/orders${query === '' ? '' : `?${query}`}`)
    assert.equal(answer.status, 200, answer.text)
    return answer
  }
  const idsOf = ({ body }: Answer): string[] => body.items.map(({ id }: { id: string }) => id)
  const sorted = (orderBy: (typeof sortKeys)[number], direction: 'Asc' | 'Desc') =>
    rows.toSorted(compareOrders(orderBy, direction)).map(({ id }) => id)

  describe('succeeds', () => {
    it('by default answers the ten newest orders, with totals and without reserve', async () => {
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

    it('answers the five fields of a summary and no more', async () => {
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

    it('of nothing has no items, no pages and a count of 0', async () => {
      const envelope = { items: [], totalPages: 0, totalCount: 0, hasPreviousPage: false, hasNextPage: false }
      assert.deepEqual(
        whenEmpty.map(({ status, body }) => ({ status, ...body })),
        [1, 3, 1].map((pageNumber) => ({ status: 200, ...envelope, pageNumber })),
      )
      const { body } = await list('filter=zzzz-nothing')
      assert.deepEqual(body, { ...envelope, pageNumber: 1 })
    })

    it('past the end answers no items and the true totals', async () => {
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

    it('answers the rest on the last page', async () => {
      const { body } = await list('pageSize=50&pageNumber=2')
      assert.deepEqual(
        [body.items.length, body.totalPages, body.hasPreviousPage, body.hasNextPage],
        [rows.length - 50, 2, true, false],
      )
    })

    it('takes a page size above 100 as 100', async () => {
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

    it('answers HEAD as GET, without the body', async () => {
      const byGet = await list('pageSize=3')
      const byHead = await viewer.send('HEAD', '/v1/orders?pageSize=3')
      assert.deepEqual([byHead.status, byHead.text], [200, ''])
      for (const name of ['link', 'cache-control', 'content-type', 'vary']) {
        assert.equal(byHead.headers.get(name), byGet.headers.get(name), name)
      }
    })

    it('answers everybody who may read', async () => {
      const callers = [await service.bearer('admin'), await service.bearer('operator')]
      callers.push(await service.bearer('demo-service'), await service.session('viewer'))
      for (const caller of callers) assert.equal((await caller.get('/v1/orders')).status, 200)
    })

    it('takes a trailing slash', async () => {
      assert.deepEqual((await viewer.get('/v1/orders/?pageSize=3')).body, (await list('pageSize=3')).body)
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

      it(`by ${orderBy} ascending when no direction is given, its name in any case`, async () => {
        for (const name of [orderBy, orderBy.toUpperCase(), orderBy.toLowerCase()]) {
          const answer = await list(`orderBy=${name}&pageSize=100`)
          assert.deepEqual(idsOf(answer), sorted(orderBy, 'Asc').slice(0, 100), name)
        }
      })
    }

    for (const [given, direction] of [
      ['Asc', 'Asc'],
      ['asc', 'Asc'],
      ['ASC', 'Asc'],
      ['0', 'Asc'],
      ['Desc', 'Desc'],
      ['dESC', 'Desc'],
      ['1', 'Desc'],
    ] as const) {
      it(`with order=${given} ${direction}, with and without orderBy`, async () => {
        const byTotal = await list(`orderBy=total&order=${given}&pageSize=100`)
        assert.deepEqual(idsOf(byTotal), sorted('total', direction).slice(0, 100))
        const byDefault = await list(`order=${given}&pageSize=100`)
        assert.deepEqual(idsOf(byDefault), sorted('createdAtUtc', direction).slice(0, 100))
      })
    }
  })

  describe('without paging', () => {
    for (const text of ['false', 'False', 'FALSE']) {
      it(`answers every match as one page with paginated=${text}`, async () => {
        const { body } = await list(`paginated=${text}`)
        assert.deepEqual(
          body.items.map(({ id }: { id: string }) => id),
          sorted('createdAtUtc', 'Desc'),
        )
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

    it('answers 10,000 matches, and is 400 with count and limit for one more', async () => {
      const crowded = await startService()
      try {
        const many = Array.from({ length: 10_001 }, (_, index) => orderRow({ status: Math.sign(index) }))
        await insertOrders(crowded, many)
        const caller = await crowded.bearer('viewer')
        const most = await caller.get('/v1/orders?paginated=false&filter=status%3DApproved')
        assert.deepEqual([most.status, most.body.items.length, most.body.totalCount], [200, 10_000, 10_000])
        assert.deepEqual([most.body.pageNumber, most.body.totalPages], [1, 1])
        const tooMany = await caller.get('/v1/orders?paginated=false')
        assertProblem(tooMany, 400, 'result-too-large')
        assert.deepEqual([tooMany.body.totalCount, tooMany.body.limit], [10_001, 10_000])
        const paged = await caller.get('/v1/orders?pageSize=100&pageNumber=101')
        assert.deepEqual([paged.body.items.length, paged.body.totalPages], [1, 101])
      } finally {
        await crowded.close()
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
      ['total>1 bogus=1', 8, 5],
      ['😀 bogus=1', 3, 5],
      ['status=', 7, 0],
      ['status=Lost', 7, 4],
      ['total=abc', 6, 3],
      ['total>1 AND', 11, 0],
      ['(total>1', 8, 0],
      ['total>1)', 7, 1],
      ['customer="x', 9, 2],
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

    const limits: [what: string, within: string, beyond: string][] = [
      ['1,000 characters', 'x'.repeat(1_000), 'x'.repeat(1_001)],
      ['25 restrictions', 'x '.repeat(25), 'x '.repeat(26)],
      ['a nesting of 6', `${'('.repeat(6)}x${')'.repeat(6)}`, `${'('.repeat(7)}x${')'.repeat(7)}`],
    ]
    for (const [what, within, beyond] of limits) {
      it(`by at most ${what}`, async () => {
        await list(`filter=${encodeURIComponent(within)}`)
        const answer = await viewer.get(`/v1/orders?filter=${encodeURIComponent(beyond)}`)
        assertProblem(answer, 400, 'invalid-filter')
        assert.equal(answer.body.errors[0].parameter, 'filter')
      })
    }

    it('judges the other parameters first', async () => {
      const answer = await viewer.get('/v1/orders?filter=bogus%3D1&pageSize=0')
      assertProblem(answer, 400, 'validation-failed')
    })
  })

  describe('links', () => {
    it('the first, previous, next and last page, as far as there are such', async () => {
      const relations = async (query: string) =>
        Object.fromEntries(
          [...(await linksOf(query))].map(([rel, url]) => [rel, url.searchParams.get('pageNumber')]),
        )
      const { totalPages } = (await list('pageSize=40')).body
      const last = String(totalPages)
      assert.deepEqual(await relations('pageSize=40'), { first: '1', next: '2', last })
      assert.deepEqual(await relations('pageSize=40&pageNumber=2'), {
        first: '1',
        prev: '1',
        next: '3',
        last,
      })
      const before = String(totalPages - 1)
      assert.deepEqual(await relations(`pageSize=40&pageNumber=${last}`), { first: '1', prev: before, last })
    })

    it('keep the other parameters of the request', async () => {
      const filters = [
        'a?b',
        '"a&b=c"',
        'customer:a',
        '"<>|^`{}"',
        'Müller 😀',
        '"100%"',
        "'#'",
        '"1+1"',
        'a,b',
      ]
      for (const filter of filters) {
        const query = `orderBy=Total&filter=${encodeURIComponent(filter)}&pageSize=7&pageNumber=1`
        for (const [rel, url] of await linksOf(query)) {
          const { pageNumber: _, ...kept } = Object.fromEntries(url.searchParams)
          assert.deepEqual(kept, { orderBy: 'Total', filter, pageSize: '7' }, rel)
          assert.equal(url.searchParams.getAll('pageNumber').length, 1)
        }
      }
    })

    it('lead to the pages that they name, also from past the end', async () => {
      for (const query of [
        'pageSize=7&pageNumber=3&orderBy=customer',
        'pageSize=40&pageNumber=999',
        'filter=zzzz',
      ]) {
        for (const [rel, url] of await linksOf(query)) {
          const answer = await viewer.get(`${url.pathname}${url.search}`)
          assert.equal(answer.status, 200, rel)
          assert.equal(String(answer.body.pageNumber), url.searchParams.get('pageNumber'))
        }
      }
    })

    for (const query of [
      'filter=a?b&pageSize=7',
      'filter=%22a?b?c%22&pageSize=7',
      'page%4Eumber=2&pageSize=7',
      'page%53ize=7&pageSize2=8',
      '%70ageNumber=2&pageSize=7&x=1',
      '?pageSize=7&pageSize=7',
    ]) {
      it(`repeat the query as it was understood: ${query}`, async () => {
        const { headers } = await sendExactly(viewer, 'GET', `/v1/orders?${query}`)
        for (const [, url] of parseLinks(headers)) {
          assert.equal(url.searchParams.getAll('pageNumber').length, 1)
          assert.equal(url.searchParams.get('pageSize'), '7')
        }
        assert.notEqual(parseLinks(headers).size, 0)
      })
    }

    it('are enough to walk the whole list', async () => {
      const seen: string[] = []
      let next: string | undefined = '/v1/orders?pageSize=13&orderBy=updatedAtUtc&order=Desc'
      while (next !== undefined) {
        const answer = await viewer.get(next)
        seen.push(...idsOf(answer))
        const url = parseLinks(answer.headers).get('next')
        next = url && `${url.pathname}${url.search}`
      }
      assert.deepEqual(seen, sorted('updatedAtUtc', 'Desc'))
    })

    const linksOf = async (query: string) => parseLinks((await list(query)).headers)
  })

  describe('revalidates', () => {
    it('answers 304 without body to the entity tag of the same page, weakly compared', async () => {
      const { headers } = await list('pageSize=3')
      const etag = headers.get('etag') ?? ''
      assert.match(etag, /^(?:W\/)?"[\x21\x23-\x7e]+"$/)
      const opaque = etag.replace(/^W\//, '')
      assert.equal(headers.get('cache-control'), 'private, no-cache')
      assert.match(headers.get('vary') ?? '', /\bCookie, Authorization\b/)
      for (const tags of [etag, `W/${opaque}`, opaque, `"x", ${etag}`, '*']) {
        const answer = await viewer.get('/v1/orders?pageSize=3', { 'if-none-match': tags })
        assert.deepEqual([answer.status, answer.text], [304, ''])
        assert.equal(answer.headers.get('etag'), etag)
        assert.equal(answer.headers.get('content-type'), null)
      }
    })

    it('answers 200 to other tags, and to the tag of another page', async () => {
      const other = (await list('pageSize=4')).headers.get('etag') ?? ''
      for (const tags of [other, '"1"', 'x', '']) {
        const answer = await viewer.get('/v1/orders?pageSize=3', { 'if-none-match': tags })
        assert.equal(answer.status, 200)
      }
    })

    it('answers 200 once an order of the page has changed', async () => {
      const admin = await service.bearer('admin')
      const id = await createdId(admin, { customer: 'Changing' })
      const { headers } = await list('filter=Changing')
      const ifNoneMatch = { 'if-none-match': headers.get('etag') ?? '' }
      assert.equal((await viewer.get('/v1/orders?filter=Changing', ifNoneMatch)).status, 304)
      await admin.patch(`/v1/orders/${id}/approve`)
      assert.equal((await viewer.get('/v1/orders?filter=Changing', ifNoneMatch)).status, 200)
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

    const notPositiveInt32 = [
      ...[
        '0',
        '-1',
        '-0',
        '00',
        '01',
        '%2B1',
        '+1',
        '%201',
        '1%20',
        '1%0A',
        '1.0',
        '1.',
        '1e1',
        '0x1',
        '1_0',
        '1,0',
      ],
      ...[
        '2147483648',
        '4294967297',
        '-2147483648',
        '-2147483649',
        '9'.repeat(400),
        'x',
        'null',
        'true',
        'NaN',
      ],
      ...['%EF%BC%91', '%D9%A1', '%00', '[1]', '{}', '%5B%5D'],
    ]
    for (const name of ['pageNumber', 'pageSize']) {
      for (const text of notPositiveInt32) {
        it(`refuses ${name}=${text.slice(0, 20)}`, async () => {
          await refused(`${name}=${text}`, [name])
        })
      }

      it(`takes every other int32 for ${name}`, async () => {
        for (const text of ['1', '10', '100', '2147483647', '%31']) await list(`${name}=${text}`)
      })
    }

    for (const text of [
      ...[
        'x',
        'modifiedBy',
        'createdAt',
        'created_at',
        'version',
        'customer,total',
        'customer desc',
        'customer%20',
      ],
      ...['-customer', '0', '__proto__', 'constructor', 'toString', 'id;drop table orders', 'cu%CC%8Astomer'],
    ]) {
      it(`refuses orderBy=${text}, naming those that there are`, async () => {
        const { body } = await refused(`orderBy=${text}`, ['orderBy'])
        for (const name of sortKeys) assert.match(body.errors[0].detail, new RegExp(`\\b${name}\\b`))
      })
    }

    for (const text of [
      'x',
      '2',
      '-1',
      '00',
      '01',
      '+0',
      'ascending',
      'Asc%20',
      'Asc,Desc',
      'de%C5%BFc',
      'null',
    ]) {
      it(`refuses order=${text}`, async () => {
        await refused(`order=${text}`, ['order'])
      })
    }

    for (const text of ['x', '0', '1', 'yes', 'no', 'on', 'off', 'null', 'true%20', '+false', 'f']) {
      it(`refuses paginated=${text}`, async () => {
        await refused(`paginated=${text}`, ['paginated'])
      })
    }

    const valid: Record<string, string> = {
      pageNumber: '1',
      pageSize: '5',
      orderBy: 'id',
      order: 'Asc',
      filter: 'a',
      paginated: 'true',
    }
    for (const name of parameters) {
      it(`refuses ${name} given twice, alike or not, empty or not`, async () => {
        const value = valid[name]
        await refused(`${name}=${value}&${name}=${value}`, [name])
        await refused(`${name}=${value}&${name}=`, [name])
        await refused(`${name}=&${name}=${value}`, [name])
        await refused(`${name}=&${name}=`, [name])
        await refused(`${name}&${name}`, [name])
        await refused(`${name}=${value}&x=1&${name}=${value}&${name}=${value}`, [name])
        await refused(`${name}=${value}&${encodeFirst(name)}=${value}`, [name])
      })

      it(`takes ${name} given empty as absent`, async () => {
        const { body } = await list('')
        for (const query of [`${name}=`, name, `${name}=&`, `&&${name}=`]) {
          assert.deepEqual((await list(query)).body, body, query)
        }
      })

      it(`refuses ${name} that is not percent-encoded UTF-8`, async () => {
        for (const text of ['%zz', '%', '1%2', '%C3%28', '%ff', '%ED%A0%80', '%C0%AF']) {
          const answer = await sendExactly(viewer, 'GET', `/v1/orders?${name}=${text}`)
          assertProblem({ ...answer, setCookies: [] }, 400, 'validation-failed')
          assert.deepEqual(
            answer.body.errors.map((error: { parameter: string }) => error.parameter),
            [name],
          )
        }
      })
    }

    it('names every faulty parameter at once', async () => {
      await refused('pageNumber=0&pageSize=x&orderBy=x&order=x&filter=a&filter=b&paginated=x', parameters)
    })

    it('ignores parameters that it does not know, however they are written', async () => {
      const { body } = await list('pageSize=3')
      for (const query of [
        'x=1',
        'x=1&x=2',
        'x=%zz',
        '%zz=1&%zz=2',
        'PageSize=50&pagesize=60&PAGESIZE=x',
        'page_size=50',
        'pageSize%5B%5D=50',
        '__proto__=1&constructor=2&__proto__=3',
        'status=1&version=9',
        '=5&=6',
      ]) {
        const answer = await sendExactly(viewer, 'GET', `/v1/orders?pageSize=3&${query}`)
        assert.equal(answer.status, 200, `${query}: ${answer.text}`)
        const text = JSON.stringify(body)
        assert.ok(answer.text.includes(text.slice(1, -1)), query)
      }
    })

    it('is 405 with the methods that there are for any other method', async () => {
      for (const method of ['PUT', 'PATCH', 'DELETE']) {
        const answer = await viewer.send(method, '/v1/orders')
        assertProblem(answer, 405, 'method-not-allowed')
        const allowed = answer.headers.get('allow')?.split(', ').sort()
        assert.deepEqual(allowed, ['GET', 'HEAD', 'OPTIONS', 'POST'])
      }
    })
  })

  describe('requires access', () => {
    it('is 401 without a credential, whatever the query', async () => {
      for (const query of ['', '?pageSize=0', '?filter=bogus%3D1']) {
        assertProblem(await service.client().get(`/v1/orders${query}`), 401, 'authentication-required')
      }
    })

    it('is 403 naming the permission without Orders.Read, before the query is judged', async () => {
      const { accessToken } = await tokenPair(service, await newUser(service, { roles: ['Writer'] }))
      const writer = service.client().withBearer(accessToken)
      assert.equal((await writer.post('/v1/orders', { customer: 'A', total: 1 })).status, 201)
      for (const query of ['', '?pageSize=0', '?filter=bogus%3D1']) {
        const answer = await writer.get(`/v1/orders${query}`)
        assertProblem(answer, 403, 'permission-denied')
        assert.equal(answer.body.permission, 'Orders.Read')
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

function parseLinks(headers: Headers): Map<string, URL> {
  const matches = (headers.get('link') ?? '').matchAll(/<([^<>\s"]*)>; rel="(\w+)"(?:, |$)/g)
  return new Map([...matches].map(([, target = '', rel = '']) => [rel, new URL(target, 'http://localhost')]))
}

/** `pageSize` as `%70ageSize`. */
function encodeFirst(name: string): string {
  return `%${name.charCodeAt(0).toString(16)}${name.slice(1)}`
}
