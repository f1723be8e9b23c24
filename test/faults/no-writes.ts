import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { type Answer, Client } from '../support/client.ts'
import { withRawDatabase } from '../support/database.ts'
import { assertSound } from '../support/history.ts'
import { assertProblem } from '../support/problem.ts'
import type { RunningServer } from '../support/process.ts'
import { bearerOf, credentialsOf, type Production, sessionOf } from '../support/production.ts'
import { until } from '../support/stream.ts'

const writers = 8
const recoversWithinMilliseconds = 10_000

interface Outage {
  detail?: string | undefined
  warning?: string | undefined
  refusal?: string | undefined
  pauseMilliseconds?: number
}

/** A service whose database becomes unable to write, its callers, and what was acknowledged to them. */
export class NoWrites {
  readonly acknowledged: string[] = []
  readonly server: RunningServer
  readonly #production: Production
  readonly #bearer: Client
  readonly #session: Client
  #orderId = ''
  /** Undoes the present fault. */
  mend: () => Promise<unknown> = async () => undefined

  private constructor(production: Production, server: RunningServer, bearer: Client, session: Client) {
    this.server = server
    this.#production = production
    this.#bearer = bearer
    this.#session = session
  }

  static async serve(production: Production): Promise<NoWrites> {
    const server = await production.serve()
    const { baseUrl } = server
    const callers = [await bearerOf(baseUrl, 'admin'), await sessionOf(baseUrl, 'operator')] as const
    const service = new NoWrites(production, server, ...callers)
    service.#orderId = (await service.create()).body.id
    return service
  }

  readonly anyone = () => new Client(this.server.baseUrl)

  async create(): Promise<Answer> {
    const answer = await this.#bearer.post('/v1/orders', { customer: `disk ${randomUUID()}`, total: 1 })
    if (answer.status === 201) this.acknowledged.push(answer.body.id)
    return answer
  }

  /**
   * Every kind of write gets this 503 (with the detail, if given), every kind of read works as usual, and the
   * instance is ready with the warning.
   */
  async assertReadsOnly(detail?: string, warning?: string): Promise<void> {
    const order = `/v1/orders/${this.#orderId}`
    for (const answer of await Promise.all([
      this.create(),
      this.#bearer.patch(`${order}/approve`),
      this.#session.post('/v1/orders', { customer: 'by session', total: 1 }),
      this.#session.post('/v1/auth/session/refresh'),
      this.anyone().post('/v1/auth/session', credentialsOf('operator')),
      this.anyone().post('/v1/auth/token', credentialsOf('operator')),
    ])) {
      assertProblem(answer, 503, 'database-unavailable')
      assert.equal(answer.body.detail, detail ?? answer.body.detail)
      assert.match(answer.headers.get('retry-after') ?? '', /^[1-9]\d?$/)
      assert.deepEqual(answer.setCookies, [])
    }
    const paths = [order, '/v1/orders?filter=disk', '/v1/orders/summary?days=1', '/health']
    const reads = paths.map((path) => this.#bearer.get(path))
    const statuses = (await Promise.all([...reads, this.#session.get('/v1/auth/me')])).map(
      ({ status }) => status,
    )
    assert.deepEqual(statuses, [200, 200, 200, 200, 200])
    const whole = await this.#bearer.get('/v1/orders', { accept: 'application/jsonl' })
    assert.equal(whole.status, 200)
    assert.equal(whole.text.split('\n').length - 1, this.acknowledged.length)
    if (warning !== undefined) assert.deepEqual(await this.#warnings(), [warning])
  }

  async #warnings(): Promise<string[] | undefined> {
    const { status, body } = await this.anyone().get('/health/ready')
    assert.equal(status, 200)
    return body.warnings
  }

  /** Lines of the service's log. */
  lines(): { msg: string; event?: string; refusal?: string; err?: unknown }[] {
    const lines = this.server.output().split('\n')
    return lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line))
  }

  /** The service writes its log in batches: lines about an earlier fault may still be on their way. */
  async #logged(): Promise<void> {
    const { headers } = await this.create()
    const requestId = headers.get('x-request-id') ?? assert.fail('no request id')
    await until(() => this.server.output().includes(requestId))
  }

  /** Since that line, the log says that a refusal began and ended, and has no line for each refused write. */
  async #assertQuiet(refusal: string, from: number): Promise<void> {
    const changes = () =>
      this.lines()
        .slice(from)
        .filter(({ event }) => event === 'database-refuses')
    await until(() => changes().length > 0 && changes().at(-1)?.refusal === undefined)
    for (const [index, change] of changes().entries()) {
      assert.equal(change.refusal, index % 2 === 0 ? refusal : undefined)
    }
    const stacks = this.lines()
      .slice(from)
      .filter(({ err }) => err !== undefined)
    assert.deepEqual(stacks, [])
  }

  /**
   * With writers from before the fault until after it, each answer is 201 or 503. `fault` sets `mend`, which
   * is called once every kind of call has been made. Then the same process writes again, everything it
   * acknowledged is there and nothing else, and the database is sound. With `refusal`, the log says that
   * writes were refused for this reason.
   */
  async assertOutlives(
    fault: () => Promise<unknown>,
    { detail, warning, refusal, pauseMilliseconds = 100 }: Outage,
  ): Promise<void> {
    let isOver = false
    await this.#logged()
    const from = this.lines().length
    const answers: Answer[] = []
    const work = Array.from({ length: writers }, async () => {
      while (!isOver) {
        const answer = await this.create()
        answers.push(answer)
        if (answer.status === 503) await wait(20)
      }
    })
    while (!answers.some(({ status }) => status === 201)) await wait(5)
    await wait(pauseMilliseconds)
    try {
      await fault()
      await this.assertReadsOnly(detail, warning)
      await this.mended()
    } finally {
      isOver = true
    }
    await Promise.all(work)
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([201, 503]))
    const refused = answers.filter(({ status }) => status === 503)
    for (const answer of refused) assertProblem(answer, 503, 'database-unavailable')
    await this.#assertRecovered()
    if (refusal !== undefined) await this.#assertQuiet(refusal, from)
  }

  async mended(): Promise<void> {
    await this.mend()
    this.mend = async () => undefined
  }

  async #assertRecovered(): Promise<void> {
    const deadline = performance.now() + recoversWithinMilliseconds
    while ((await this.create()).status !== 201) {
      assert.ok(performance.now() < deadline, 'no write within 10 s')
      await wait(20)
    }
    assert.equal(await this.#warnings(), undefined)
    assert.equal(this.server.process.exitCode, null)
    assert.doesNotMatch(this.server.output(), /internal-error|unexpected error/)
    await withRawDatabase(this.#production.databaseUrl, async (db) => {
      await assertSound(db)
      const rows = await db.selectFrom('orders').select('id').orderBy('id').execute()
      const ids = rows.map(({ id }) => id)
      assert.deepEqual(ids, this.acknowledged.toSorted())
    })
  }
}
