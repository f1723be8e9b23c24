import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { sql } from '#kysely'
import {
  readCheckpoint,
  readNote,
  readVerifierKey,
  spellSignature,
  verifyCosignature,
  verifyNote,
} from '../../../client/src/note.ts'
import { originOf, publishedKeys } from '../../../server/audit/checkpoint.ts'
import { cosignedCheckpoint, headOfLog } from '../../../server/audit/store.ts'
import { reportOnWitnesses } from '../../../server/audit/witnesses/report.ts'
import { Witnessing } from '../../../server/audit/witnesses/watch.ts'
import type { Witnesses } from '../../../server/audit/witnesses/witnesses.ts'
import { openAppDatabase } from '../../../server/operations.ts'
import { readRequest } from '../../../server/witness/request.ts'
import { createTestDatabase, withRawDatabase } from '../../support/database.ts'
import { addEvents, testLogKeys } from '../../support/log.ts'
import { stamp } from '../../support/orders.ts'
import { freePort } from '../../support/process.ts'
import { publicUrl } from '../../support/service.ts'
import { cosignatureBy, newSigner, type Signer, signatureBy } from '../../support/signed-log.ts'
import { startScripted, startWitness } from '../../support/witness.ts'

type T = { after(hook: () => unknown): void }
const second = 1_000
const minute = 60_000
const hour = 3_600_000

/** The key under which the log is known, in each era. */
async function logKey(era = 1) {
  const [published] = await publishedKeys(testLogKeys(), originOf(publicUrl, era))
  return readVerifierKey(published?.verifierKey ?? '')
}

interface Other {
  signer: Signer
  url: string
}

/** A database with a log of this size, as an instance sees it that asks these witnesses. */
async function instanceOf(t: T, size: number, others: readonly Other[], quorum = others.length) {
  const { databaseUrl, drop } = await createTestDatabase()
  const db = await openAppDatabase({ databaseUrl })
  t.after(async () => {
    await db.close()
    await drop()
  })
  const stopping = new AbortController()
  const lines: Record<string, unknown>[] = []
  const keep = (members: object, msg?: string) => void lines.push({ ...members, msg })
  const witnesses: Witnesses = { list: others.map(({ signer: { key }, url }) => ({ key, url })), quorum }
  const clock = { now: 1_800_000_000_000 }
  const start = () =>
    new Witnessing({
      db,
      keys: testLogKeys(),
      publicUrl: () => publicUrl,
      witnesses,
      clock: () => clock.now,
      signal: stopping.signal,
      timeLimitMilliseconds: 300_000,
      log: { info: keep, warn: keep },
      ...instance.options,
    })
  const instance = {
    db,
    clock,
    stopping,
    witnesses,
    options: {},
    /** One more process. */
    start,
    grow: (count: number) => addEvents({ db, databaseUrl }, count),
    /** A minute later, for the database, whose clock the rounds follow. */
    async nextMinute() {
      clock.now += minute
      await instance.raw((raw) => sql`update leases set ends_at = 0`.execute(raw))
    },
    /** The lines of its log since the last call. */
    said: () => lines.splice(0),
    report: () => reportOnWitnesses(db.read, witnesses),
    cosigned: () => cosignedCheckpoint(db.read),
    /** All reads of one turn of the event loop see the same. */
    async raw(work: Parameters<typeof withRawDatabase<unknown>>[1]) {
      await withRawDatabase(databaseUrl, work)
      await nextTurn()
    },
  }
  if (size > 0) await addEvents({ db, databaseUrl }, size, 0)
  return instance
}

async function threeWitnesses(t: T) {
  const keys = [await logKey()]
  return [await startWitness(t, keys), await startWitness(t, keys), await startWitness(t, keys)] as const
}

const failuresOf = (lines: Record<string, unknown>[]) =>
  lines.filter(({ event }) => event === 'witness').map(({ failure }) => failure)

describe('the witnesses of the log', () => {
  it('cosign its checkpoints as it grows', async (t) => {
    const others = await threeWitnesses(t)
    const instance = await instanceOf(t, 1, others)
    const witnessing = instance.start()
    for (const growth of [0, 1, 5, 248, 1, 1, 13]) {
      await instance.grow(growth)
      await instance.nextMinute()
      await witnessing.look()
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
    await instance.nextMinute()
    await one.look()
    assert.equal(await sizeOf(), 5)
    const state = await other.state()
    await instance.nextMinute()
    await Promise.all([first.look(), one.look()])
    assert.equal(await other.state(), state)
    assert.equal(await instance.db.write('beginRound', {}), true)
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
    await instance.nextMinute()
    await next.look()
    assert.equal(away.asked.length, 3)
    isAway = false
    for (const asked of [4, 4]) {
      await instance.nextMinute()
      await next.look()
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
    assert.deepEqual(failuresOf(instance.said()), ['ECONNREFUSED', 'UND_ERR_SOCKET'])
    away.script = async (body, response) => {
      const { note } = readRequest(body)
      const signature = cosignatureBy(away.signer, note.text, instance.clock.now / second)
      response.end(spellSignature(signature))
    }
    await instance.grow(1)
    await instance.nextMinute()
    await witnessing.look()
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
    await instance.nextMinute()
    await witnessing.look()
    assert.deepEqual([away.asked.length, missed(), await instance.cosigned()], [2, [], undefined])
    instance.clock.now += hour
    await instance.nextMinute()
    await witnessing.look()
    assert.deepEqual(missed(), [{ ...line, size: 3, lastSecondsAgo: null }])
    away.script = (body, response) => {
      const signature = cosignatureBy(away.signer, readRequest(body).note.text, instance.clock.now / second)
      response.end(spellSignature(signature))
    }
    await instance.nextMinute()
    await witnessing.look()
    assert.equal((await instance.cosigned())?.size, 3)
    away.script = (_, response) => response.destroy()
    await instance.grow(2)
    await instance.nextMinute()
    await witnessing.look()
    assert.deepEqual(missed(), [{ ...line, size: 5, lastSecondsAgo: 60 }])
    assert.equal((await instance.report()).uncosignedEvents, 2)
  })

  it('are taken up where they are, if the database does not know it', async (t) => {
    const others = await threeWitnesses(t)
    const instance = await instanceOf(t, 3, others)
    const witnessing = instance.start()
    await witnessing.look()
    await instance.raw((raw) => sql`delete from log_witnesses`.execute(raw))
    await instance.grow(4)
    await instance.nextMinute()
    await witnessing.look()
    assert.equal((await instance.cosigned())?.size, 7)
    for (const wrong of [9, 5, 2 ** 40]) {
      await instance.raw((raw) => sql`update log_witnesses set size = ${wrong}`.execute(raw))
      await instance.grow(1)
      await instance.nextMinute()
      await witnessing.look()
    }
    assert.equal((await instance.cosigned())?.size, 10)
    assert.deepEqual(instance.said(), [])
  })
})

describe('a witness that is', () => {
  /** A good witness and this one, which answers badly. What the log says of it. */
  async function failureOf(t: T, script: Parameters<typeof startScripted>[1], options = {}) {
    const [good] = await threeWitnesses(t)
    const bad = await startScripted(t, script)
    const instance = await instanceOf(t, 4, [good, bad], 1)
    Object.assign(instance.options, options)
    await instance.start().look()
    const { checkpoint = '', size } = (await instance.cosigned()) ?? {}
    assert.equal(size, 4)
    const note = readNote(checkpoint)
    assert.ok(await verifyCosignature(note, good.signer.key))
    assert.equal(await verifyCosignature(note, bad.signer.key), undefined)
    assert.equal(note.signatures.length, 2)
    const [, { cosignedAt, contradicts } = {}] = (await instance.report()).witnesses
    assert.equal(cosignedAt, undefined)
    const [failure, more] = failuresOf(instance.said())
    assert.equal(more, undefined)
    return { failure, contradicts, bad, instance, good }
  }

  const textOf = (body: string) => readRequest(body).note.text
  const soon = 1_800_000_000

  it('slow does not keep the others from a quorum', async (t) => {
    const options = { timeLimitMilliseconds: 300 }
    const silent = await failureOf(t, () => undefined, options)
    assert.equal(silent.failure, 'it did not answer in time')
    const dripping = await failureOf(t, (_, response) => void response.write('— '), options)
    assert.equal(dripping.failure, 'it did not answer in time')
  })

  it('slow does not hold up the end of the service', async (t) => {
    const silent = await startScripted(t, () => instance.stopping.abort())
    const instance = await instanceOf(t, 4, [silent])
    await instance.start().look()
    assert.deepEqual([silent.asked.length, instance.said()], [1, []])
  })

  for (const [what, answer] of [
    ['nothing', () => ''],
    ['something else', () => 'cosigned\n'],
    ['the signature of a stranger', ({ text, good }) => spellSignature(cosignatureBy(good, text, soon))],
    ['a plain signature', ({ text, bad }) => spellSignature(signatureBy(bad, text))],
    ['a cosignature of another text', ({ bad }) => spellSignature(cosignatureBy(bad, 'o\n', soon))],
    [
      'a true and a false cosignature',
      ({ text, bad }) =>
        [text, 'o\n'].map((signed) => spellSignature(cosignatureBy(bad, signed, soon))).join(''),
    ],
    ['no line feed', ({ text, bad }) => spellSignature(cosignatureBy(bad, text, soon)).slice(0, -1)],
    ['another checkpoint', ({ text, bad }) => `\n${spellSignature(cosignatureBy(bad, text, soon))}`],
    ['a cosignature of the future', ({ text, bad }) => spellSignature(cosignatureBy(bad, text, soon + 61))],
    ['more than anyone would', () => '— x AAAAAAA=\n'.repeat(2_000)],
  ] as [string, (given: { text: string; good: Signer; bad: Signer }) => string][]) {
    it(`lying with ${what} does not count`, async (t) => {
      const good = await startScripted(t, () => undefined)
      const { failure } = await failureOf(t, function script(this: unknown, body, response) {
        response.end(
          answer({ text: textOf(body), good: good.signer, bad: (this as { signer: Signer }).signer }),
        )
      })
      assert.match(
        String(failure),
        /^(?:it did not cosign|its cosignature is from the future|its answer has more than|the signatures of a|a signature must)/,
      )
    })
  }

  it('replaying its last answer does not count', async (t) => {
    let last: string | undefined
    const replaying = await startScripted(t, (body, response) => {
      last ??= spellSignature(cosignatureBy(replaying.signer, textOf(body), soon))
      response.end(last)
    })
    const instance = await instanceOf(t, 4, [replaying])
    const witnessing = instance.start()
    await witnessing.look()
    assert.equal((await instance.cosigned())?.size, 4)
    await instance.grow(1)
    await instance.nextMinute()
    await witnessing.look()
    assert.equal((await instance.cosigned())?.size, 4)
    assert.deepEqual(failuresOf(instance.said()), ['it did not cosign the checkpoint'])
  })

  for (const [status, body, failure] of [
    [404, 'unknown\n', 'it answered 404: unknown'],
    [500, 'x'.repeat(1_000), `it answered 500: ${'x'.repeat(200)}`],
    [409, '', 'a size must end with a line feed'],
    [409, '04\n', 'a size must be a whole number below 2^53 without leading zeros'],
    [409, '0\n', 'it answered 409 to the size that it named'],
    [422, 'no\n', 'it answered 422 although it has no checkpoint'],
  ] as const) {
    it(`answering ${status} ${JSON.stringify(body.slice(0, 9))} does not count`, async (t) => {
      const found = await failureOf(t, (_, response) => void response.writeHead(status).end(body))
      assert.deepEqual([found.failure, found.contradicts], [failure, undefined])
    })
  }

  it('contradicting itself is asked twice at most', async (t) => {
    let size = 1
    const { failure, contradicts, bad } = await failureOf(t, (_, response) => {
      response.writeHead(409).end(`${size++}\n`)
    })
    assert.deepEqual([failure, contradicts], ['it answered 409 to the size that it named', undefined])
    assert.equal(bad.asked.length, 2)
  })

  it('sending elsewhere is not followed', async (t) => {
    const elsewhere = await startScripted(t, () => assert.fail('it was followed'))
    const { failure } = await failureOf(t, (_, response) => {
      response.writeHead(307, { location: `${elsewhere.url}/add-checkpoint` }).end()
    })
    assert.deepEqual([failure, elsewhere.asked], ['it answered 307: ', []])
  })

  it('ahead is noted with its size, and no longer once it cosigns', async (t) => {
    const { failure, contradicts, bad, instance } = await failureOf(t, (_, response) => {
      response.writeHead(409).end('7\n')
    })
    assert.deepEqual([failure, contradicts], ['it has a checkpoint of 7 events, more than the log', 7])
    bad.script = (body, response) => {
      response.end(spellSignature(cosignatureBy(bad.signer, textOf(body), soon)))
    }
    await instance.grow(4)
    await instance.nextMinute()
    await instance.start().look()
    assert.equal((await instance.report()).witnesses[1]?.contradicts, undefined)
  })

  it('ahead by what was sealed while it answered is not noted', async (t) => {
    let instance: Awaited<ReturnType<typeof instanceOf>> | undefined
    const quick = await startScripted(t, async (_, response) => {
      await instance?.grow(2)
      response.writeHead(409).end('5\n')
    })
    instance = await instanceOf(t, 4, [quick])
    await instance.start().look()
    assert.equal((await instance.report()).witnesses[0]?.contradicts, undefined)
  })
})

describe('a database that was put in place of another', () => {
  it('is noticed by the witnesses that saw more of the other', async (t) => {
    const others = await threeWitnesses(t)
    await (await instanceOf(t, 10, others)).start().look()
    const older = await instanceOf(t, 5, others, 2)
    await older.start().look()
    assert.equal(await older.cosigned(), undefined)
    const contradicts = async () => (await older.report()).witnesses.map((witness) => witness.contradicts)
    assert.deepEqual(await contradicts(), [10, 10, 10])
    assert.deepEqual(
      failuresOf(older.said()),
      Array(3).fill('it has a checkpoint of 10 events, more than the log'),
    )
    // It grows beyond the other, and still leads elsewhere.
    await older.grow(7)
    await older.nextMinute()
    await older.start().look()
    assert.deepEqual(await contradicts(), [10, 10, 10])
    assert.deepEqual(
      failuresOf(older.said()),
      Array(3).fill('its checkpoint of 10 events leads to another log'),
    )
    assert.equal(await older.cosigned(), undefined)
  })

  it('goes on in its next era, once the witnesses know the key of that era', async (t) => {
    const keys = [await logKey()]
    const others = [await startWitness(t, keys), await startWitness(t, keys)]
    await (await instanceOf(t, 10, others)).start().look()
    const older = await instanceOf(t, 5, others)
    const witnessing = older.start()
    await witnessing.look()
    await older.db.write('beginEra', { atLeast: 1, stamp: stamp() })
    older.said()
    await older.nextMinute()
    await witnessing.look()
    assert.deepEqual(
      failuresOf(older.said()),
      Array(2).fill('it answered 404: this witness does not know the log'),
    )
    assert.deepEqual(
      (await older.report()).witnesses.map((witness) => witness.contradicts),
      [undefined, undefined],
    )
    keys.push(await logKey(2))
    await older.nextMinute()
    await witnessing.look()
    const { era, size, checkpoint = '' } = (await older.cosigned()) ?? {}
    assert.deepEqual([era, size], [2, 6])
    assert.equal(readCheckpoint(readNote(checkpoint).text).origin, 'orders.example.com/log/2')
  })

  it('is noticed without a start, when it ends before the log that the instance knew', async (t) => {
    const others = await threeWitnesses(t)
    const instance = await instanceOf(t, 4, others)
    const witnessing = instance.start()
    await witnessing.look()
    await instance.grow(4)
    await instance.nextMinute()
    await witnessing.look()
    const { root } = await headOfLog(instance.db.read)
    await instance.raw(async (raw) => {
      await sql`update log_head set size = 7, root = ${root}, edge = '[]'`.execute(raw)
      await sql`update log_cosigned set size = 7`.execute(raw)
      await sql`update log_witnesses set size = 7`.execute(raw)
    })
    await instance.nextMinute()
    await witnessing.look()
    assert.deepEqual(
      (await instance.report()).witnesses.map((witness) => witness.contradicts),
      [8, 8, 8],
    )
  })
})
