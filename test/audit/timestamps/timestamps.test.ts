import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { describe, it } from 'node:test'
import { readCheckpoint, readNote } from '../../../client/src/note.ts'
import { lastTimestampAt, stampedDays, unstampedDay } from '../../../server/audit/timestamps/store.ts'
import { requestFor } from '../../../server/audit/timestamps/timestamps.ts'
import { Timestamping } from '../../../server/audit/timestamps/watch.ts'
import { startAnswering } from '../../support/answering.ts'
import { answerOf, hashIn } from '../../support/authority.ts'
import { logInstance } from '../../support/log-instance.ts'
import { stamp } from '../../support/orders.ts'
import { freePort } from '../../support/process.ts'
import { contradict } from '../../support/witnessed.ts'

type T = { after(hook: () => unknown): void }
type Answer = (request: Buffer, response: ServerResponse) => unknown
const evening = Date.parse('2026-11-28T18:00:00Z')
const lastMinutes = 6 * 60

const grant: Answer = (request, response) => response.end(answerOf(0, hashIn(request)))

/** An instance in the evening, and an authority that answers as the test says. */
async function instanceOf(t: T, answer: Answer = grant, { size = 3, ...options } = {}) {
  const asked: Buffer[] = []
  const authority = { asked, answer }
  const url = await startAnswering(t, (request, response) => {
    asked.push(request)
    return authority.answer(request, response)
  })
  const made = await logInstance(t, size)
  made.clock.now = evening
  return {
    ...made,
    authority,
    /** One more process. */
    start: () => new Timestamping({ ...made.parts, url, ...options }),
    /** Each day with the size of its checkpoint. */
    async stamped() {
      return (await stampedDays(made.db.read)).map(({ day, era, checkpoint }) => {
        const { origin, size } = readCheckpoint(readNote(checkpoint).text)
        return [day, era, origin, size]
      })
    },
  }
}

const origin = 'orders.example.com/log'

describe('the last checkpoint of a day', () => {
  it('is stamped once the day is over, and the answer is kept as it is', async (t) => {
    const instance = await instanceOf(t)
    const timestamping = instance.start()
    await timestamping.look()
    await instance.grow(2)
    await instance.nextMinute(lastMinutes)
    await timestamping.look()
    assert.deepEqual(await instance.stamped(), [['2026-11-27', 1, origin, 3]])
    await instance.nextMinute()
    await timestamping.look()
    assert.deepEqual(await instance.stamped(), [
      ['2026-11-27', 1, origin, 3],
      ['2026-11-28', 1, origin, 5],
    ])
    const days = await stampedDays(instance.db.read)
    for (const [index, { checkpoint, answer }] of days.entries()) {
      const request = Buffer.from(requestFor(checkpoint))
      assert.deepEqual(instance.authority.asked[index], request)
      assert.equal(answer, answerOf(0, hashIn(request)).toString('base64'))
    }
    assert.equal(await lastTimestampAt(instance.db.read), instance.clock.now)
    await instance.nextMinute()
    await timestamping.look()
    await instance.start().look()
    assert.equal(instance.authority.asked.length, 2)
    assert.deepEqual(instance.said(), [])
  })

  it('is not signed while witnesses contradict the log', async (t) => {
    const instance = await instanceOf(t)
    await contradict(instance.db, 1)
    await instance.start().look()
    assert.deepEqual(await instance.stamped(), [])
    await instance.db.write('beginEra', { atLeast: 1, stamp: stamp() })
    await instance.start().look()
    assert.deepEqual(await instance.stamped(), [['2026-11-27', 2, `${origin}/2`, 4]])
  })

  it('is sent as a query for a timestamp', async (t) => {
    let type: string | undefined
    const instance = await instanceOf(t, (request, response) => {
      type = response.req.headers['content-type']
      return grant(request, response)
    })
    await instance.start().look()
    assert.equal(type, 'application/timestamp-query')
  })

  it('is stamped once by two instances', async (t) => {
    const instance = await instanceOf(t)
    const both = [instance.start(), instance.start()]
    for (let minute = 0; minute < 3; minute += 1) {
      await Promise.all(both.map((timestamping) => timestamping.look()))
      await instance.nextMinute()
    }
    assert.equal(instance.authority.asked.length, 1)
    assert.deepEqual(await instance.stamped(), [['2026-11-27', 1, origin, 3]])
  })

  it('stays the same until the authority answers, for each day that waits', async (t) => {
    const instance = await instanceOf(t, (_, response) => response.destroy())
    const timestamping = instance.start()
    await timestamping.look()
    for (let day = 0; day < 2; day += 1) {
      await instance.grow(1)
      await instance.nextMinute(24 * 60)
      await timestamping.look()
    }
    assert.deepEqual(await instance.stamped(), [])
    assert.equal(await lastTimestampAt(instance.db.read), undefined)
    instance.authority.answer = grant
    for (let day = 0; day < 3; day += 1) {
      await instance.nextMinute(60)
      await timestamping.look()
    }
    assert.deepEqual(await instance.stamped(), [
      ['2026-11-27', 1, origin, 3],
      ['2026-11-28', 1, origin, 4],
      ['2026-11-29', 1, origin, 5],
    ])
  })

  it('is the one of the first instance to look, and so is the timestamp', async (t) => {
    const instance = await instanceOf(t)
    const day = { day: '2026-11-27', era: 1 }
    for (const one of ['first', 'second']) await instance.db.write('closeDay', { ...day, checkpoint: one })
    for (const answer of ['Zmlyc3Q=', 'c2Vjb25k']) {
      await instance.db.write('keepTimestamp', { ...day, answer, nowMilliseconds: evening })
    }
    const kept = { ...day, checkpoint: 'first', answer: 'Zmlyc3Q=' }
    assert.deepEqual(await stampedDays(instance.db.read), [kept])
  })

  it('is not that of an empty log', async (t) => {
    const instance = await instanceOf(t, grant, { size: 0 })
    const timestamping = instance.start()
    await timestamping.look()
    assert.deepEqual(instance.authority.asked, [])
    await instance.grow(1)
    await timestamping.look()
    assert.deepEqual(await instance.stamped(), [['2026-11-27', 1, origin, 1]])
  })

  it('is stamped in each era of the log', async (t) => {
    const instance = await instanceOf(t, (_, response) => response.destroy())
    await instance.start().look()
    await instance.db.write('beginEra', { atLeast: 1, stamp: stamp() })
    instance.authority.answer = grant
    for (let minute = 0; minute < 2; minute += 1) {
      await instance.nextMinute()
      await instance.start().look()
    }
    for (const { checkpoint, answer } of await stampedDays(instance.db.read)) {
      assert.equal(answer, answerOf(0, hashIn(Buffer.from(requestFor(checkpoint)))).toString('base64'))
    }
    assert.deepEqual(await instance.stamped(), [
      ['2026-11-27', 1, origin, 3],
      ['2026-11-27', 2, `${origin}/2`, 4],
    ])
  })

  it('is taken when the service starts, if it was off at the end of the day', async (t) => {
    const instance = await instanceOf(t)
    await instance.start().look()
    await instance.grow(1)
    await instance.nextMinute(5 * 24 * 60)
    await instance.start().look()
    assert.deepEqual(await instance.stamped(), [
      ['2026-11-27', 1, origin, 3],
      ['2026-12-02', 1, origin, 4],
    ])
  })
})

describe('an authority that is away', () => {
  it('is asked after pauses that grow to an hour, and the log says once that it fails', async (t) => {
    const instance = await instanceOf(t, (_, response) => void response.writeHead(503).end())
    const timestamping = instance.start()
    const askedAt: number[] = []
    for (let minute = 0; minute < lastMinutes; minute += 1) {
      const before = instance.authority.asked.length
      await timestamping.look()
      if (instance.authority.asked.length > before) askedAt.push(minute)
      await instance.nextMinute()
    }
    assert.deepEqual(askedAt, [0, 1, 3, 7, 15, 31, 63, 123, 183, 243, 303])
    const line = { event: 'timestamp', day: '2026-11-27', msg: 'the checkpoint of a day was not stamped' }
    assert.deepEqual(instance.said(), [{ ...line, failure: 'it answered 503' }])
    instance.authority.answer = (_, response) => response.end(answerOf(2, Buffer.alloc(32)))
    await instance.nextMinute(60)
    await timestamping.look()
    assert.deepEqual(instance.said(), [{ ...line, failure: 'it refused with status 2' }])
    instance.authority.answer = grant
    await instance.nextMinute(60)
    await timestamping.look()
    assert.deepEqual(instance.said(), [{ event: 'timestamp', msg: 'checkpoints are stamped again' }])
    await instance.nextMinute()
    await timestamping.look()
    assert.equal((await instance.stamped()).length, 2)
    assert.deepEqual(instance.said(), [])
    instance.authority.answer = (_, response) => response.end(answerOf(2, Buffer.alloc(32)))
    await instance.nextMinute(24 * 60)
    await timestamping.look()
    assert.deepEqual(instance.said(), [{ ...line, day: '2026-11-29', failure: 'it refused with status 2' }])
  })

  it('is back for an instance when another one has the timestamp', async (t) => {
    const instance = await instanceOf(t, (_, response) => response.destroy())
    const first = instance.start()
    await first.look()
    assert.equal(instance.said().length, 1)
    instance.authority.answer = grant
    await instance.nextMinute()
    await instance.start().look()
    assert.deepEqual(instance.said(), [])
    await first.look()
    assert.deepEqual(instance.said(), [{ event: 'timestamp', msg: 'checkpoints are stamped again' }])
  })
})

describe('an authority that is', () => {
  /** What the log says of it. Its answer is not kept. */
  async function failureOf(t: T, answer: Answer, options = {}) {
    const instance = await instanceOf(t, answer, options)
    await instance.start().look()
    assert.deepEqual(await instance.stamped(), [])
    assert.equal((await unstampedDay(instance.db.read))?.day, '2026-11-27')
    const [line, more] = instance.said()
    assert.equal(more, undefined)
    return line?.failure
  }

  it('slow is not waited for', async (t) => {
    const options = { timeLimitMilliseconds: 300 }
    assert.equal(await failureOf(t, () => undefined, options), 'it did not answer in time')
    const dripping = await failureOf(t, (_, response) => void response.write('0'), options)
    assert.equal(dripping, 'it did not answer in time')
  })

  it('slow does not hold up the end of the service, and is not blamed', async (t) => {
    const instance = await instanceOf(t, () => instance.stopping.abort())
    await instance.start().look()
    assert.deepEqual([instance.authority.asked.length, instance.said()], [1, []])
  })

  it('gone is reported', async (t) => {
    const url = `http://127.0.0.1:${await freePort()}/`
    assert.equal(await failureOf(t, grant, { url }), 'ECONNREFUSED')
  })

  const other = Buffer.alloc(32, 1)
  for (const [what, answer, failure] of [
    [
      'lying, with a timestamp for something else',
      (_, response) => response.end(answerOf(0, other)),
      'its timestamp is for something else',
    ],
    [
      'refusing',
      (request, response) => response.end(answerOf(2, hashIn(request))),
      'it refused with status 2',
    ],
    ['talking of something else', (_, response) => response.end('<p>'), 'its answer is not a TimeStampResp'],
    ['silent', (_, response) => response.end(), 'its answer is not a TimeStampResp'],
    [
      'busy',
      (request, response) => response.writeHead(500).end(answerOf(0, hashIn(request))),
      'it answered 500',
    ],
    [
      'talking without end',
      (_, response) => response.end(Buffer.alloc(1_000_000)),
      'its answer has more than 65536 bytes',
    ],
  ] as [string, Answer, string][]) {
    it(`${what} has nothing kept`, async (t) => {
      assert.equal(await failureOf(t, answer), failure)
    })
  }

  it('sending elsewhere is not followed', async (t) => {
    const elsewhere = await startAnswering(t, () => assert.fail('it was followed'))
    const failure = await failureOf(t, (_, response) => {
      response.writeHead(307, { location: elsewhere }).end()
    })
    assert.equal(failure, 'it answered 307')
  })
})
