// engine: both
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import { urlLimitBytes } from '../../server/http/request-context.ts'
import { fieldNames } from '../../server/orders/order.ts'
import { anyCharacter } from '../support/any-character.ts'
import type { Answer } from '../support/client.ts'
import { insertOrders, variedOrders } from '../support/orders.ts'
import { testService } from '../support/service.ts'
import { Sender } from './sender.ts'
import { announceSeed, assertAlways, effort } from './settings.ts'

/** Each one is valid, so that random joins get far into the language. */
const restrictions = [
  ...['zebra', '"a b"', "'_'", 'total>1', 'total <= 1.25', 'total!=3.5', 'status=Pending', 'status:1'],
  ...[
    ...'customer="*a*" customer:é customer>=M createdBy=a* createdBy!="Bob" modifiedBy:*'.split(' '),
    ...'019a'.split(' '),
  ],
  ...['"\\"yes\\""', '\'say "yes"\'', '"\\"\\""', 'customer:\'" or "\''],
  ...['createdAtUtc=2026-01-01', 'updatedAtUtc<2026-01-02T00:00:02+01:00', 'id="*0"', 'updatedAtTimeZone:*'],
]
const joints = [
  ...[' ', ' AND ', ' OR ', ' NOT ', ' -', '(', ')', ' ) '],
  ...[':', '=', '!=', '<', '>=', '"', "'", '\\', '*'],
]
const pieces = [...restrictions, ...joints, ...fieldNames, '\0', '\u{10ffff}', 'ß', '%', '\u200b', '\ud7ff']
const sentence = fc
  .array(
    fc.tuple(fc.constantFrom(...restrictions), fc.constantFrom(' ', ' AND ', ' OR ', ' AND NOT ', ' -')),
    {
      minLength: 1,
      maxLength: 6,
    },
  )
  .map((parts) => parts.flat().slice(0, -1).join(''))
const almost = fc.array(fc.constantFrom(...pieces), { maxLength: 25 }).map((parts) => parts.join(''))
const text = fc.string({ unit: anyCharacter, maxLength: 60 })
const anyBytes = fc.oneof(
  ...[sentence, almost, text].map((texts) => texts.map((one) => Buffer.from(one))),
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
  fc
    .tuple(sentence, fc.uint8Array({ maxLength: 3 }))
    .map(([start, end]) => Buffer.concat([Buffer.from(start), end])),
)

/** Planted mistakes were found within about thirty filters of either kind, or not even within six hundred. */
const filterCount = { any: 150, opposite: 60 }

describe('filters of any bytes', () => {
  const orderCount = 60
  const sender = new Sender()
  after(() => sender.close())
  const service = testService({ env: { LOG_LEVEL: 'warn' } })
  let authorization: string
  before(async () => {
    authorization = (await service.bearer('viewer')).headers.authorization ?? ''
    await insertOrders(service, variedOrders(orderCount))
  })

  const list = (filter: Buffer): Promise<Answer> => {
    const escaped = filter.toString('hex').replaceAll(/../g, '%$&')
    const path = `/v1/orders?pageSize=100&filter=${escaped}`
    return sender.send(service.baseUrl, { method: 'GET', path, headers: { authorization } })
  }

  it('are accepted, or refused with a fault that points inside the text', async (t) => {
    announceSeed(t)
    await assertAlways(anyBytes, effort(filterCount.any), async (bytes) => {
      const { status, body } = await list(bytes)
      if (status === 200) return
      const isUtf8 = Buffer.from(bytes.toString()).equals(bytes)
      assert.equal(body.code, expectedRefusal(bytes, isUtf8))
      if (body.code !== 'invalid-filter') return
      const [fault, ...others] = body.errors
      assert.deepEqual([fault.parameter, others], ['filter', []])
      const { length } = bytes.toString()
      assert.ok(
        fault.position >= 0 && fault.length >= 0 && fault.position + fault.length <= length,
        body.detail,
      )
    })
    t.diagnostic(sender.summary())
  })

  it('match exactly the orders that their negations do not', async (t) => {
    announceSeed(t)
    const filters = fc.oneof({ weight: 4, arbitrary: sentence }, almost)
    await assertAlways(
      filters,
      { ...effort(filterCount.opposite), maxSkipsPerRun: 1_000 },
      async (filter) => {
        const found = await list(Buffer.from(filter))
        fc.pre(found.status === 200 && filter.trim() !== '')
        const opposite = await list(Buffer.from(`NOT (${filter})`))
        fc.pre(opposite.status === 200)
        const both = await list(Buffer.from(`(${filter}) OR NOT (${filter})`))
        assert.equal(found.body.totalCount + opposite.body.totalCount, orderCount, filter)
        assert.ok(both.status === 400 || both.body.totalCount === orderCount, `${filter}: ${both.text}`)
        const ids = [...found.body.items, ...opposite.body.items].map(({ id }: { id: string }) => id)
        assert.equal(new Set(ids).size, orderCount, filter)
      },
    )
    t.diagnostic(sender.summary())
  })

  it('leave no failure in the log', async () => {
    const failures = (await service.log()).filter(({ level }) => Number(level) >= 50)
    assert.deepEqual(failures, [])
  })
})

function expectedRefusal(bytes: Buffer, isUtf8: boolean): string {
  if (bytes.length * 3 > urlLimitBytes) return 'uri-too-long'
  return isUtf8 ? 'invalid-filter' : 'validation-failed'
}
