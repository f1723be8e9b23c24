// engine: PostgreSQL
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { commandLine } from '../cli/command-line.ts'
import type { Answer, Client } from '../support/client.ts'
import { isLong } from '../support/faults.ts'
import { type Pooler, startPooler } from '../support/pooler.ts'
import { connectTo, runSql, withoutPostgres } from '../support/postgres.ts'
import { bearerOf, testProduction } from '../support/production.ts'

describe('behind a pooler that refuses settings when a connection opens', { skip: withoutPostgres }, () => {
  const production = testProduction()
  const poolers: Pooler[] = []
  const cli = commandLine({ after })
  after(async () => {
    for (const pooler of poolers) await pooler.close()
  })

  async function poolerOf(mode: 'session' | 'transaction'): Promise<Pooler> {
    const pooler = await startPooler(production.databaseUrl, mode)
    poolers.push(pooler)
    return pooler
  }

  const newKey = () => ({ 'idempotency-key': randomUUID() })
  /** On a busy machine the service may refuse some of many requests; the same key makes another try safe. */
  async function admitted(call: () => Promise<Answer>): Promise<Answer> {
    let answer = await call()
    while (answer.status === 503) answer = await call()
    return answer
  }

  /** The mode that differs most from no pooler; the long form has both. */
  const modes = [['transaction', 'transaction'], ...(isLong ? ([['session', 'none']] as const) : [])] as const
  for (const [mode, setting] of modes) {
    describe(`by ${mode}, DATABASE_POOLER=${setting}`, () => {
      let pooler: Pooler
      let admin: Client
      before(async () => {
        pooler = await poolerOf(mode)
        const { baseUrl } = await production.serve({ DATABASE_URL: pooler.url, DATABASE_POOLER: setting })
        admin = await bearerOf(baseUrl, 'admin')
      })

      it('creates, approves, reads and lists, many at once', async () => {
        const answers = await Promise.all(
          Array.from({ length: 40 }, async (_, index) => {
            const key = newKey()
            const body = { customer: `${mode} ${index}`, total: 1 }
            const created = await admitted(() => admin.post('/v1/orders', body, key))
            const order = `/v1/orders/${created.body.id}`
            const approved = await admitted(() => admin.patch(`${order}/approve`, undefined, key))
            return [created.status, approved.status, (await admin.get(order)).body.status]
          }),
        )
        assert.deepEqual(answers, Array(40).fill([201, 204, 1]))
        assert.equal((await admin.get(`/v1/orders?filter=customer:${mode}`)).body.totalCount, 40)
      })

      it('gives up waiting for a lock after 3 s, and leaves no limits behind for other sessions', async () => {
        const { body } = await admin.post('/v1/orders', { customer: 'Held', total: 1 })
        const other = await connectTo(production.databaseUrl)
        await other.query('begin')
        await other.query('select * from orders where id = $1 for update', [body.id])
        const answer = await admin.patch(`/v1/orders/${body.id}/approve`)
        await other.query('rollback')
        await other.end()
        assert.deepEqual([answer.status, answer.body.code], [503, 'timed-out'])
        assert.deepEqual(await runSql(pooler.url, 'show lock_timeout'), [{ lock_timeout: '0' }])
      })
    })
  }

  it('neither the service nor a command starts behind a transaction pooler without the setting', async () => {
    const { url } = await poolerOf('transaction')
    for (const command of ['serve', 'role list']) {
      const env = { ...production.env, DATABASE_URL: url, DATABASE_START_TIMEOUT_SECONDS: '0' }
      const { status, stderr } = await cli.run(command, '', env)
      assert.equal(status, 1)
      assert.match(stderr, /^countersign: DATABASE_URL: .*: set DATABASE_POOLER=transaction\n$/)
    }
  })

  it('repeats the message and code of a pooler that refuses', async () => {
    const { url } = await poolerOf('session')
    const env = { ...production.env, DATABASE_URL: `${url}?options=-c%20work_mem%3D8MB` }
    const { stderr } = await cli.run('role list', '', env)
    assert.match(stderr, /08P01: unsupported startup parameter: options\n$/)
  })
})
