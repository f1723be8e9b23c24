import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Logger } from 'pino'
import { RefusalLog } from '../../server/http/refusal-log.ts'
import { type Service, startService } from '../support/service.ts'

const info = 30
const debug = 20

const requestsIn = async (service: Service) => (await service.log()).filter(({ msg }) => msg === 'request')

describe('the log of requests', () => {
  it('has successful probes at debug only, and failed ones like any refusal', async (t) => {
    const service = await startService({ inside: true, until: t })
    for (const path of ['/health', '/health/ready']) await service.client().get(path)
    service.readiness.phase = 'draining'
    await service.client().get('/health/ready')
    assert.deepEqual(
      (await requestsIn(service)).map(({ level, status, problem }) => [level, status, problem]),
      [
        [debug, 200, undefined],
        [debug, 200, undefined],
        [info, 503, 'shutting-down'],
      ],
    )
    assert.ok((await service.log()).every(({ level }) => Number(level) <= info))
  })

  it('has the first hundred refused requests from an address, and then the number of the others', async () => {
    const service = await startService({
      inside: true,
      env: { RATE_LIMIT_FACTOR: '1', RATE_LIMIT_ANONYMOUS: '10' },
    })
    const answers = await Promise.all(Array.from({ length: 150 }, () => service.client().get('/v1/none')))
    assert.equal(answers.filter(({ status }) => status === 429).length, 140)
    await service.close()
    const refused = (await service.log()).filter(({ problem }) => problem === 'rate-limited')
    assert.equal(refused.length, 100)
    const sums = (await service.log()).filter(({ event }) => event === 'requests-limited')
    assert.deepEqual(
      sums.map(({ level, address, leftOut }) => ({ level, address, leftOut })),
      [{ level: info, address: '127.0.0.1', leftOut: 40 }],
    )
  })

  it('has a hundred more in each minute', (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] })
    const info = t.mock.fn((_line: { event: string; leftOut?: number }) => undefined)
    const log = new RefusalLog({ info } as unknown as Logger)
    for (const refused of [150, 130]) {
      for (let count = 0; count < refused; count += 1) log.note({ address: '192.0.2.1', reason: 'x' })
      t.mock.timers.tick(60_000)
    }
    log.close()
    const lines = info.mock.calls.map(({ arguments: [line] }) => line)
    assert.deepEqual(
      lines.flatMap(({ leftOut = [] }) => leftOut),
      [50, 30],
    )
    assert.equal(lines.filter(({ event }) => event === 'request-unreadable').length, 200)
  })
})
