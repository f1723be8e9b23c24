// engine: both
import assert from 'node:assert/strict'
import { before, describe, it, type TestContext } from 'node:test'
import { contradictionOf, headOfLog } from '../../../server/audit/audit.ts'
import { newestCheckpoint } from '../../../server/audit/checkpoints/proof.ts'
import { isContradicted } from '../../../server/audit/sealing/contradiction.ts'
import { seal, testLogKeys } from '../../support/log.ts'
import { createdId, stamp } from '../../support/orders.ts'
import { assertProblem } from '../../support/problem.ts'
import { publicUrl, setUp, testService } from '../../support/service.ts'
import { startScripted } from '../../support/witness.ts'
import { contradict, instanceOf, type Other, threeWitnesses } from '../../support/witnessed.ts'

describe('isContradicted', () => {
  const against = (witness: string) => ({ witness, contradicts: 7 })
  const quorum = { witnesses: ['a', 'b', 'c'], needed: 2 }

  it('needs a quorum of the witnesses that the settings name', () => {
    assert.equal(isContradicted([against('a'), against('c')], quorum), true)
    assert.equal(isContradicted(['a', 'b', 'c'].map(against), quorum), true)
    assert.equal(isContradicted([against('a'), { witness: 'b', contradicts: null }], quorum), false)
    assert.equal(isContradicted([against('a'), against('strange'), against('former')], quorum), false)
    assert.equal(isContradicted([], quorum), false)
    assert.equal(isContradicted([against('former')], { witnesses: [], needed: 1 }), false)
  })
})

describe('a log that a quorum of witnesses contradicts', () => {
  /** A copy with five events of a log whose ten events these witnesses know. */
  async function olderOf(t: TestContext, others: readonly Other[], quorum: number) {
    await (await instanceOf(t, 10, others)).start().look()
    const older = await instanceOf(t, 5, others, quorum)
    await older.start().look()
    const parts = { db: older.db, keys: testLogKeys(), publicUrl: () => publicUrl }
    return {
      ...older,
      size: async () => (await headOfLog(older.db.read)).size,
      signs: async () => (await newestCheckpoint(parts)).size,
      contradiction: () => contradictionOf(older.db.read),
    }
  }

  it('is neither sealed nor signed until the next era, and says by whom', async (t) => {
    const others = await threeWitnesses(t)
    const older = await olderOf(t, others, 2)
    const witnesses = Array(3).fill({ name: 'witness.example/one', size: 10 })
    assert.deepEqual(await older.contradiction(), { size: 5, witnesses })
    await older.grow(3)
    assert.equal(await older.size(), 5)
    await assert.rejects(older.signs(), { code: 'log-contradicted', members: { size: 5, witnesses } })
    await older.db.write('beginEra', { atLeast: 1, stamp: stamp() })
    assert.equal(await older.contradiction(), undefined)
    await seal(older.db)
    assert.deepEqual([await older.size(), await older.signs()], [9, 9])
  })

  it('asks no witness any more, and says so once', async (t) => {
    const other = await startScripted(t, (_, response) => void response.writeHead(409).end('7\n'))
    const instance = await instanceOf(t, 5, [other])
    for (const witnessing of [instance.start(), instance.start()]) {
      for (const _ of [1, 2]) {
        await instance.lookLater(witnessing)
      }
      const said = instance.said().filter(({ event }) => event === 'log-contradicted')
      assert.equal(said.length, 1)
      assert.match(
        String(said[0]?.msg),
        /^The log has 5 events, but witness.example\/scripted has a checkpoint of 7 events that does not lead to it\. /,
      )
    }
    assert.equal(other.asked.length, 1)
    await instance.db.write('beginEra', { atLeast: 1, stamp: stamp() })
    await instance.start().look()
    assert.equal(other.asked.length, 2)
  })

  it('is one that goes on while they are too few', async (t) => {
    const [one] = await threeWitnesses(t)
    const lying = await startScripted(t, (_, response) => void response.writeHead(409).end('999\n'))
    const instance = await instanceOf(t, 5, [one, lying], 2)
    const witnessing = instance.start()
    for (const size of [6, 7]) {
      await witnessing.look()
      await instance.grow(1)
      await instance.nextMinute()
      assert.equal((await headOfLog(instance.db.read)).size, size)
      assert.equal(await contradictionOf(instance.db.read), undefined)
      assert.equal((await instance.report()).witnesses[1]?.contradicts, 999)
    }
  })

  it('goes on if they answered about the era before', async (t) => {
    const { db } = await instanceOf(t, 5, [])
    await db.write('beginEra', { atLeast: 1, stamp: stamp() })
    await contradict(db, 1, 1)
    assert.equal(await contradictionOf(db.read), undefined)
    await contradict(db, 1, 2)
    const witnesses = [{ name: 'witness.example', size: 7 }]
    assert.deepEqual(await contradictionOf(db.read), { size: 6, witnesses })
  })

  it('is not sealed any more once that is known, however many sealers are at work', async (t) => {
    const instance = await instanceOf(t, 5, [])
    await instance.wait(200)
    const sealing = Array.from({ length: 100 }, () => instance.db.write('sealEvents', { limit: 2 }))
    const late = contradict(instance.db, 1_000).then(async () => {
      const { size } = await headOfLog(instance.db.read)
      return [size, await instance.db.write('sealEvents', { limit: 2 })]
    })
    await Promise.all(sealing)
    const [size, sealed] = await late
    assert.deepEqual([(await headOfLog(instance.db.read)).size, sealed], [size, 0])
  })
})

describe('a service whose log witnesses contradict', () => {
  const service = testService({})
  const admin = setUp(() => service.bearer('admin'))
  let [kept, other] = ['', '']
  async function approved(): Promise<string> {
    const id = await createdId(admin)
    assert.equal((await admin.patch(`/v1/orders/${id}/approve`)).status, 204)
    return id
  }
  before(async () => {
    ;[kept, other] = [await approved(), await approved()]
    await seal(service.db)
    assert.equal((await admin.get(`/v1/orders/${kept}/receipt`)).status, 200)
    await contradict(service.db, 3)
  })

  it('is not ready, and says what it knows and from whom', async () => {
    const { size } = await headOfLog(service.db.read)
    const answer = await service.client().get('/health/ready')
    assertProblem(answer, 503, 'log-contradicted')
    const { detail, witnesses, size: own } = answer.body
    assert.deepEqual([own, witnesses], [size, [{ name: 'witness.example', size: size + 3 }]])
    assert.equal(
      detail,
      `The log has ${size} events, but witness.example has a checkpoint of ${size + 3} events that does not lead to it. ` +
        'Nothing is sealed or signed until `restore` or `log restored` has begun the next era.',
    )
    assert.equal((await service.client().get('/health')).status, 200)
  })

  it('signs no checkpoint and no receipt, erases nothing, and serves what it has signed', async () => {
    const erasure = service.db.write('erasePerson', { id: 1, stamp: stamp() })
    await assert.rejects(erasure, { code: 'log-contradicted' })
    assertProblem(await admin.get('/v1/log/checkpoint'), 503, 'log-contradicted')
    assertProblem(await admin.get(`/v1/orders/${other}/receipt`), 503, 'log-contradicted')
    assertProblem(await admin.get(`/v1/orders/${await approved()}/receipt`), 503, 'log-contradicted')
    assertProblem(await admin.get(`/v1/orders/${await createdId(admin)}/receipt`), 409, 'order-not-approved')
    assert.equal((await admin.get(`/v1/orders/${kept}/receipt`)).status, 200)
  })

  it('serves everything else, and seals what it wrote meanwhile in the next era', async () => {
    const { size } = await headOfLog(service.db.read)
    const id = await approved()
    assert.equal((await admin.get('/v1/log?pageSize=1')).status, 200)
    assert.equal((await admin.get(`/v1/log/proof?sequence=1&size=${size}`)).status, 200)
    assert.equal((await admin.get('/v1/log/key')).status, 200)
    assert.equal((await headOfLog(service.db.read)).size, size)
    await service.db.write('beginEra', { atLeast: 1, stamp: stamp() })
    assert.equal((await service.client().get('/health/ready')).status, 200)
    assert.equal((await admin.get(`/v1/orders/${id}/receipt`)).status, 200)
    assert.match((await admin.get('/v1/log/checkpoint')).text, /^orders\.example\.com\/log\/2\n/)
  })
})
