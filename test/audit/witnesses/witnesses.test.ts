// engine: both
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sql } from '#kysely'
import { readRequest } from '../../../proof/add-checkpoint.ts'
import {
  readCheckpoint,
  readNote,
  spellSignature,
  verifyCosignature,
  verifyNote,
} from '../../../proof/note.ts'
import { headOfLog } from '../../../server/audit/lines/store.ts'
import { Witnessing } from '../../../server/audit/witnesses/watch.ts'
import { startWitness } from '../../../witness/test/running.ts'
import { cosignatureBy, newSigner } from '../../../witness/test/signed-log.ts'
import { stamp } from '../../support/orders.ts'
import { freePort } from '../../support/process.ts'
import { startScripted } from '../../support/witness.ts'
import { failuresOf, instanceOf, logKey, threeWitnesses } from '../../support/witnessed.ts'

const second = 1_000
const hour = 3_600_000

describe('the witnesses of the log', () => {
  it('cosign its checkpoints as it grows', async (t) => {
    const others = await threeWitnesses(t)
    const instance = await instanceOf(t, 1, others)
    const witnessing = instance.start()
    for (const growth of [0, 1, 5, 248, 1, 1, 13]) {
      await instance.lookLater(witnessing, growth)
      const { checkpoint = '', ...row } = (await instance.cosigned()) ?? {}
      const head = await headOfLog(instance.db.read)
      assert.deepEqual(row, { era: 1, size: head.size, cosigned_at: instance.clock.now })
      const note = readNote(checkpoint)
      const { origin, size, root } = readCheckpoint(note.text)
      assert.deepEqual([origin, size], ['orders.example.com/log', head.size])
      assert.equal(Buffer.from(root).toString('hex'), head.root)
      assert.equal(await verifyNote(note, [await logKey()]), true)
      for (const { signer } of others) assert.ok(await verifyCosignature(note, signer.key))
      assert.equal(note.signatures.length, 4)
    }
    assert.deepEqual(instance.said(), [])
    assert.deepEqual(await instance.report(), {
      quorumAt: instance.clock.now,
      uncosignedEvents: 0,
      witnesses: others.map(({ signer }) => ({
        name: signer.key.name,
        cosignedAt: instance.clock.now,
        contradicts: undefined,
      })),
    })
  })

  it('are asked at the start, then at most once a minute by all instances, and only if the log grew', async (t) => {
    const [other] = await threeWitnesses(t)
    const instance = await instanceOf(t, 3, [other])
    const [first, one] = [instance.start(), instance.start()]
    const sizeOf = async () => (await instance.cosigned())?.size
    await first.look()
    await one.look()
    assert.equal(await sizeOf(), 3)
    await instance.nextMinute()
    await instance.grow(1)
    await Promise.all([first.look(), one.look()])
    assert.equal(await sizeOf(), 4)
    await instance.grow(1)
    await Promise.all([first.look(), one.look()])
    assert.equal(await sizeOf(), 4)
    await instance.lookLater(one)
    assert.equal(await sizeOf(), 5)
    const state = await other.state()
    await instance.nextMinute()
    await Promise.all([first.look(), one.look()])
    assert.equal(await other.state(), state)
    const lease = { name: 'witnesses', term: null, milliseconds: 60_000 }
    assert.notEqual(await instance.db.write('holdLease', lease), null)
  })

  it('are asked at most once in LOG_WITNESS_SECONDS', async (t) => {
    const [other] = await threeWitnesses(t)
    const instance = await instanceOf(t, 3, [other])
    const witnesses = { ...instance.witnesses, everySeconds: 3_600 }
    await new Witnessing({ ...instance.parts, witnesses }).look()
    const ends: number[] = []
    await instance.raw(async (raw) => {
      const { rows } = await sql<{
        at: number
      }>`select ends_at as at from leases where name = 'witnesses'`.execute(raw)
      ends.push(...rows.map(({ at }) => Number(at)))
    })
    const later = ends.map((at) => Math.round((at - Date.now()) / 600_000))
    assert.deepEqual(later, [6])
  })

  it('are not asked about an empty log', async (t) => {
    const scripted = await startScripted(t, (_, response) => response.end())
    const instance = await instanceOf(t, 0, [scripted])
    await instance.start().look()
    assert.deepEqual(scripted.asked, [])
  })

  it('are asked by a new process until a quorum answers, although the database knows of cosignatures', async (t) => {
    let isAway = false
    const away = await startScripted(t, (body, response) => {
      if (isAway) return response.destroy()
      const { text } = readRequest(body).note
      return response.end(spellSignature(cosignatureBy(away.signer, text, instance.clock.now / second)))
    })
    const instance = await instanceOf(t, 3, [away])
    await instance.start().look()
    isAway = true
    const next = instance.start()
    await next.look()
    assert.equal(away.asked.length, 2)
    await instance.lookLater(next)
    assert.equal(away.asked.length, 3)
    isAway = false
    for (const asked of [4, 4]) {
      await instance.lookLater(next)
      assert.equal(away.asked.length, asked)
    }
  })

  it('form a quorum without those that are away, which follow later', async (t) => {
    const others = await threeWitnesses(t)
    const away = await startScripted(t, (_, response) => response.destroy())
    const gone = await newSigner('witness.example/gone', 'cosignature/v1')
    const [first, other] = others
    const instance = await instanceOf(
      t,
      3,
      [first, other, { signer: gone, url: `http://127.0.0.1:${await freePort()}` }, away],
      2,
    )
    const witnessing = instance.start()
    await witnessing.look()
    assert.equal((await instance.cosigned())?.size, 3)
    assert.deepEqual(failuresOf(instance.said()), [
      'it refused the connection (ECONNREFUSED)',
      'it broke off the connection (ECONNRESET)',
    ])
    away.script = async (body, response) => {
      const { note } = readRequest(body)
      const signature = cosignatureBy(away.signer, note.text, instance.clock.now / second)
      response.end(spellSignature(signature))
    }
    await instance.lookLater(witnessing, 1)
    assert.deepEqual(instance.said(), [
      {
        event: 'witness',
        witness: 'witness.example/scripted',
        failure: undefined,
        msg: 'a witness cosigns again',
      },
    ])
  })

  it('are asked again each minute while they are too few, and the log says so once an hour', async (t) => {
    const [other] = await threeWitnesses(t)
    const away = await startScripted(t, (_, response) => void response.writeHead(503).end('busy\n'))
    const instance = await instanceOf(t, 3, [other, away])
    const witnessing = instance.start()
    const missed = () => instance.said().filter(({ event }) => event === 'no-quorum')
    const line = {
      event: 'no-quorum',
      cosignatures: 1,
      quorum: 2,
      msg: 'too few witnesses cosigned the checkpoint',
    }
    await witnessing.look()
    assert.deepEqual(missed(), [{ ...line, size: 3, lastSecondsAgo: null }])
    await witnessing.look()
    assert.equal(away.asked.length, 1)
    await instance.lookLater(witnessing)
    assert.deepEqual([away.asked.length, missed(), await instance.cosigned()], [2, [], undefined])
    instance.clock.now += hour
    await instance.lookLater(witnessing)
    assert.deepEqual(missed(), [{ ...line, size: 3, lastSecondsAgo: null }])
    away.script = (body, response) => {
      const signature = cosignatureBy(away.signer, readRequest(body).note.text, instance.clock.now / second)
      response.end(spellSignature(signature))
    }
    await instance.lookLater(witnessing)
    assert.equal((await instance.cosigned())?.size, 3)
    away.script = (_, response) => response.destroy()
    await instance.lookLater(witnessing, 2)
    assert.deepEqual(missed(), [{ ...line, size: 5, lastSecondsAgo: 60 }])
    assert.equal((await instance.report()).uncosignedEvents, 2)
  })

  it('are taken up where they are, if the database does not know it', async (t) => {
    const others = await threeWitnesses(t)
    const instance = await instanceOf(t, 3, others)
    const witnessing = instance.start()
    await witnessing.look()
    await instance.raw((raw) => sql`delete from log_witnesses`.execute(raw))
    await instance.lookLater(witnessing, 4)
    assert.equal((await instance.cosigned())?.size, 7)
    for (const wrong of [9, 5, 2 ** 40]) {
      await instance.raw((raw) => sql`update log_witnesses set size = ${wrong}`.execute(raw))
      await instance.lookLater(witnessing, 1)
    }
    assert.equal((await instance.cosigned())?.size, 10)
    assert.deepEqual(instance.said(), [])
  })
})

it('no event of an era that has just begun is cosigned', async (t) => {
  const instance = await instanceOf(t, 3, await threeWitnesses(t))
  await instance.start().look()
  await instance.db.write('beginEra', { atLeast: 1, stamp: stamp() })
  const { quorumAt, uncosignedEvents } = await instance.report()
  assert.deepEqual([quorumAt, uncosignedEvents], [undefined, 4])
})

describe('a database that was put in place of another', () => {
  for (const [size, what] of [
    [5, 'it has a checkpoint of 10 events, more than the log'],
    [10, 'its checkpoint of 10 events leads to another log'],
    [12, 'its checkpoint of 10 events leads to another log'],
  ] as const) {
    it(`is noticed by the witnesses that saw ten events of the other, if it has ${size} now`, async (t) => {
      const others = await threeWitnesses(t)
      await (await instanceOf(t, 10, others)).start().look()
      const older = await instanceOf(t, size, others, 2)
      await older.start().look()
      assert.equal(await older.cosigned(), undefined)
      const contradicts = (await older.report()).witnesses.map((witness) => witness.contradicts)
      assert.deepEqual(contradicts, [10, 10, 10])
      assert.deepEqual(failuresOf(older.said()), Array(3).fill(what))
    })
  }

  it('goes on in its next era, once the witnesses know the key of that era', async (t) => {
    const keys = [await logKey()]
    const others = [await startWitness(t, keys), await startWitness(t, keys)]
    await (await instanceOf(t, 10, others)).start().look()
    const older = await instanceOf(t, 5, others)
    const witnessing = older.start()
    await witnessing.look()
    await older.db.write('beginEra', { atLeast: 1, stamp: stamp() })
    older.said()
    await older.lookLater(witnessing)
    assert.deepEqual(
      failuresOf(older.said()),
      Array(2).fill('it answered 404: this witness does not know the log'),
    )
    assert.deepEqual(
      (await older.report()).witnesses.map((witness) => witness.contradicts),
      [undefined, undefined],
    )
    keys.push(await logKey(2))
    await older.lookLater(witnessing)
    const { era, size, checkpoint = '' } = (await older.cosigned()) ?? {}
    assert.deepEqual([era, size], [2, 6])
    assert.equal(readCheckpoint(readNote(checkpoint).text).origin, 'orders.example.com/log/2')
  })

  it('is noticed without a start, when it ends before the log that the instance knew', async (t) => {
    const others = await threeWitnesses(t)
    const instance = await instanceOf(t, 4, others)
    const witnessing = instance.start()
    await witnessing.look()
    await instance.lookLater(witnessing, 4)
    const { root } = await headOfLog(instance.db.read)
    await instance.raw(async (raw) => {
      await sql`update log_head set size = 7, root = ${root}, edge = '[]'`.execute(raw)
      await sql`update log_cosigned set size = 7`.execute(raw)
      await sql`update log_witnesses set size = 7`.execute(raw)
    })
    await instance.lookLater(witnessing)
    assert.deepEqual(
      (await instance.report()).witnesses.map((witness) => witness.contradicts),
      [8, 8, 8],
    )
  })
})
