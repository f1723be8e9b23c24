import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { describe, it } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { spellRequest } from '../../proof/add-checkpoint.ts'
import { readNote, spellNote, verifierKey, verifyCosignature, verifyNote } from '../../proof/note.ts'
import { listen } from '../listen.ts'
import type { Witness } from '../witness.ts'
import { type RunningWitness, startWitness, type WitnessAnswer } from './running.ts'
import { newSigner, SignedLog, signatureBy } from './signed-log.ts'

const origin = 'orders.example/log'

/** The time in the cosignature, if the answer is one of this checkpoint. */
async function cosignedAt({ signer }: RunningWitness, note: string, { status, text }: WitnessAnswer) {
  assert.equal(status, 200, text)
  return verifyCosignature(readNote(note + text), signer.key)
}

const assertRefused = ({ status, type, text }: WitnessAnswer, expected: number, reason: RegExp) => {
  assert.deepEqual([status, type], [expected, 'text/plain; charset=utf-8'], text)
  assert.match(text, reason)
}

const assertConflict = (answer: WitnessAnswer, size: number) =>
  assert.deepEqual(answer, { status: 409, type: 'text/x.tlog.size', text: `${size}\n` })

describe('add-checkpoint', () => {
  it('cosigns a log as it grows, with the time', async (t) => {
    const log = await SignedLog.named(origin)
    const witness = await startWitness(t, [log.signer.key])
    let from = 0
    for (const size of [0, 1, 2, 3, 7, 8, 9, 64, 255, 256, 257, 300]) {
      log.grow(size - log.leaves.length)
      witness.now += 1_500
      const answer = await witness.post(log.request(from))
      assert.equal(await cosignedAt(witness, spellNote(log.note()), answer), Math.floor(witness.now / 1_000))
      assert.deepEqual(answer.text.split('\n').length, 2)
      from = size
    }
    assert.deepEqual(witness.warnings, [])
  })

  it('takes a first checkpoint of any size', async (t) => {
    const log = await SignedLog.named(origin, 300)
    const witness = await startWitness(t, [log.signer.key])
    assert.ok(await cosignedAt(witness, spellNote(log.note()), await witness.post(log.request(0))))
  })

  it('cosigns the same checkpoint again at a later time', async (t) => {
    const log = await SignedLog.named(origin, 5)
    const witness = await startWitness(t, [log.signer.key])
    await witness.post(log.request(0))
    witness.now += 60_000
    const again = await witness.post(log.request(5))
    assert.equal(await cosignedAt(witness, spellNote(log.note()), again), witness.now / 1_000)
  })

  it('answers 409 with its size to any other old size, and changes nothing', async (t) => {
    const log = await SignedLog.named(origin, 9)
    const witness = await startWitness(t, [log.signer.key])
    assertConflict(await witness.post(log.request(4, 9)), 0)
    await witness.post(log.request(0, 5))
    const before = await witness.state()
    for (const [from, size] of [
      [0, 5],
      [0, 9],
      [4, 5],
      [4, 9],
      [6, 9],
      [9, 9],
      [3, 4],
    ] as const) {
      assertConflict(await witness.post(log.request(from, size)), 5)
    }
    assert.equal(await witness.state(), before)
  })

  it('answers 400 to an old size above the size', async (t) => {
    const log = await SignedLog.named(origin, 9)
    const witness = await startWitness(t, [log.signer.key])
    await witness.post(log.request(0))
    const body = spellRequest({ from: 9, path: [], note: log.note(8) })
    assertRefused(await witness.post(body), 400, /the old size must not be above the size/)
  })

  it('answers 404 to a log that it does not know, such as the next era', async (t) => {
    const log = await SignedLog.named(origin, 3)
    const witness = await startWitness(t, [log.signer.key])
    const next = await SignedLog.named(`${origin}/2`, 3)
    assertRefused(await witness.post(next.request(0)), 404, /does not know the log/)
    const bare = { ...next.note(), signatures: log.note().signatures }
    assertRefused(await witness.post(spellRequest({ from: 0, path: [], note: bare })), 404, /does not know/)
    assert.equal(await witness.state(), '[]\n')
  })

  it('answers 403 unless a key of the log signed, or if a signature of such a key is false', async (t) => {
    const log = await SignedLog.named(origin, 3)
    const other = await newSigner(origin, 'ed25519')
    const stranger = await newSigner(origin, 'ed25519')
    const witness = await startWitness(t, [log.signer.key, other.key])
    const { text } = log.note()
    const falseOne = { ...signatureBy(other, 'x\n') }
    for (const signatures of [
      [signatureBy(stranger, text)],
      [{ ...signatureBy(stranger, text), id: log.signer.key.id }],
      [{ ...signatureBy(log.signer, text), name: 'orders.example' }],
      [signatureBy(log.signer, text), falseOne],
      [falseOne, signatureBy(log.signer, text)],
    ]) {
      const answer = await witness.post(spellRequest({ from: 0, path: [], note: { text, signatures } }))
      assertRefused(answer, 403, /the log did not sign the checkpoint/)
    }
    assert.equal(await witness.state(), '[]\n')
    const note = { text, signatures: [signatureBy(stranger, text), signatureBy(other, text)] }
    const answer = await witness.post(spellRequest({ from: 0, path: [], note }))
    assert.ok(await cosignedAt(witness, spellNote(note), answer))
  })

  it('answers 409 to two roots of one size, and says so in its log', async (t) => {
    const log = await SignedLog.named(origin, 5)
    const witness = await startWitness(t, [log.signer.key])
    await witness.post(log.request(0))
    const before = await witness.state()
    const fork = log.forkAt(4, 1)
    const answer = await witness.post(fork.request(5))
    assertConflict(answer, 5)
    assert.equal(await witness.state(), before)
    const [warning] = witness.warnings as { event: string; note: string }[]
    assert.equal(warning?.event, 'checkpoint-refused')
    assert.equal(await verifyNote(readNote(warning?.note ?? ''), [log.signer.key]), true)
    assertRefused(
      await witness.post(spellRequest({ from: 5, path: [log.rootAt(1)], note: log.note() })),
      422,
      /the proof does not have the length that the sizes need/,
    )
  })

  it('answers 422 to a log that was changed before its last size', async (t) => {
    const log = await SignedLog.named(origin, 9)
    const witness = await startWitness(t, [log.signer.key])
    await witness.post(log.request(0))
    const before = await witness.state()
    for (const changed of [0, 4, 7, 8]) {
      for (const size of [10, 12, 16, 17]) {
        const answer = await witness.post(log.forkAt(changed, size - changed).request(9))
        assertRefused(answer, 422, /the proof does not show that the log only grew/)
      }
    }
    assert.equal(await witness.state(), before)
    assert.ok(await cosignedAt(witness, spellNote(log.grow(3).note()), await witness.post(log.request(9))))
  })

  it('answers 422 to any other proof', async (t) => {
    const log = await SignedLog.named(origin, 13)
    const witness = await startWitness(t, [log.signer.key])
    const note = log.note()
    const [hash = note.signatures[0]?.signature.subarray(0, 32) ?? new Uint8Array(32)] = log.path(6)
    assertRefused(await witness.post(spellRequest({ from: 0, path: [hash], note })), 422, /must be empty/)
    await witness.post(log.request(0, 6))
    const path = log.path(6)
    const swapped = path.with(0, path[1] ?? hash).with(1, path[0] ?? hash)
    const altered = path.map((_, at) =>
      path.with(
        at,
        Uint8Array.from(path[at] ?? hash, (byte) => byte ^ 1),
      ),
    )
    for (const wrong of [[], path.slice(1), path.slice(0, -1), [...path, hash], swapped, ...altered]) {
      assertRefused(
        await witness.post(spellRequest({ from: 6, path: wrong, note })),
        422,
        /the proof does not/,
      )
    }
    assert.equal((await witness.post(spellRequest({ from: 6, path, note }))).status, 200)
  })

  it('answers 422 to an empty log whose root is not that of nothing', async (t) => {
    const log = await SignedLog.named(origin, 1)
    const witness = await startWitness(t, [log.signer.key])
    const text = log.note().text.replace('\n1\n', '\n0\n')
    const note = { text, signatures: [signatureBy(log.signer, text)] }
    const answer = await witness.post(spellRequest({ from: 0, path: [], note }))
    assertRefused(answer, 422, /the root of an empty log must be the hash of nothing/)
  })

  it('answers 400 to anything that is not such a request', async (t) => {
    const log = await SignedLog.named(origin, 7)
    const witness = await startWitness(t, [log.signer.key])
    await witness.post(log.request(0, 3))
    const good = log.request(3)
    const [head = '', checkpoint = '', signatures = ''] = good.split('\n\n')
    const before = await witness.state()
    const hash = Buffer.alloc(32).toString('base64')
    const refused: [string | Buffer, RegExp][] = [
      ['', /an empty line before its checkpoint/],
      ['\n', /an empty line before its checkpoint/],
      [head, /an empty line before its checkpoint/],
      [`\n\n${checkpoint}\n\n${signatures}`, /must begin with the old size/],
      [good.replace('old ', 'new '), /must begin with the old size/],
      [good.replace('old 3', 'old 03'), /the old size must be a whole number/],
      [good.replace('old 3', 'old -3'), /the old size must be a whole number/],
      [good.replace('old 3', 'old 3 '), /the old size must be a whole number/],
      [good.replace('old 3', 'old 9007199254740992'), /the old size must be a whole number/],
      [good.replace('old 3\n', 'old 3\r\n'), /the old size must be a whole number/],
      [good.replace('old 3\n', 'old 3\nAAAA\n'), /a hash must have 32 bytes/],
      [good.replace('old 3\n', 'old 3\nwhat?\n'), /a hash must be base64/],
      [`old 3\n${`${hash}\n`.repeat(64)}\n${checkpoint}\n\n${signatures}`, /at most 63 hashes/],
      [`${head}\n\n${checkpoint}\n`, /a note must have an empty line before its signatures/],
      [good.slice(0, -1), /the signatures of a note must end with a line feed/],
      [good.replace(`${origin}\n`, '\n'), /a line of a checkpoint must not be empty/],
      [good.replace('\n7\n', '\n07\n'), /the size must be a whole number/],
      [good.replace('\n7\n', '\n7\n7\n'), /the root must be base64/],
      [good.replace('\n7\n', '\n'), /a checkpoint must have three lines/],
      [good.replace('\n7\n', '\n7\0\n'), /without control characters/],
      [`\ufeff${good}`, /must begin with the old size/],
      [Buffer.concat([Buffer.from(good), Buffer.of(0xff)]), /a body must be UTF-8/],
    ]
    for (const [body, reason] of refused) assertRefused(await witness.post(body), 400, reason)
    assert.equal(await witness.state(), before)
    assert.deepEqual(witness.warnings, [])
    const most = `old 3\n${`${hash}\n`.repeat(63)}\n${checkpoint}\n\n${signatures}`
    assertRefused(await witness.post(most), 422, /the proof does not have the length/)
    assert.equal((await witness.post(good)).status, 200)
  })

  it('answers 413 to a body that is too long, and reads no more of it', async (t) => {
    const log = await SignedLog.named(origin, 1)
    const witness = await startWitness(t, [log.signer.key])
    const response = await fetch(`${witness.url}/add-checkpoint`, {
      method: 'POST',
      body: 'x'.repeat(128 * 1024 + 1),
    })
    assert.deepEqual([response.status, response.headers.get('connection')], [413, 'close'])
    assert.equal((await witness.post('x'.repeat(128 * 1024))).status, 400)
  })

  it('has no other paths and methods', async (t) => {
    const log = await SignedLog.named(origin, 1)
    const witness = await startWitness(t, [log.signer.key])
    for (const path of [
      '/',
      '/add-checkpoint/',
      '/add-checkpoint?x',
      '/sign-subtree',
      `/${'0'.repeat(64)}/checkpoint`,
    ]) {
      const response = await fetch(`${witness.url}${path}`, { method: path.includes('0') ? 'GET' : 'POST' })
      assert.equal(response.status, 404, path)
    }
    const response = await fetch(`${witness.url}/add-checkpoint`)
    assert.deepEqual([response.status, response.headers.get('allow')], [405, 'POST'])
  })

  it('keeps several logs apart', async (t) => {
    const logs = await Promise.all([origin, `${origin}/2`].map((name) => SignedLog.named(name, 4)))
    const witness = await startWitness(
      t,
      logs.map(({ signer }) => signer.key),
    )
    const [first, second] = logs as [SignedLog, SignedLog]
    assert.equal((await witness.post(first.request(0, 3))).status, 200)
    assertConflict(await witness.post(second.request(3, 4)), 0)
    assert.equal((await witness.post(second.request(0, 4))).status, 200)
    assert.equal((await witness.post(first.request(3, 4))).status, 200)
    const bySecond = first.note(4, [second.signer])
    assertRefused(
      await witness.post(spellRequest({ from: 4, path: [], note: bySecond })),
      403,
      /did not sign/,
    )
  })
})

describe('the newest checkpoint of a witness', () => {
  it('is served with the signatures that the witness verified, and with its cosignature', async (t) => {
    const log = await SignedLog.named(origin, 4)
    const stranger = await newSigner('other.example', 'ed25519')
    const witness = await startWitness(t, [log.signer.key])
    const path = `${witness.url}/${createHash('sha256').update(origin).digest('hex')}/checkpoint`
    assert.equal((await fetch(path)).status, 404)
    const note = log.note(4, [stranger, log.signer])
    const { name, id } = log.signer.key
    const foreign = signatureBy(stranger, note.text)
    // Nobody verified what has only the name of the log's key, or only its id.
    const signatures = [...note.signatures, { ...foreign, name }, { ...foreign, id }]
    const { text } = await witness.post(spellRequest({ from: 0, path: [], note: { ...note, signatures } }))
    const served = await (await fetch(path)).text()
    assert.equal(served, spellNote(log.note()) + text)
  })
})

describe('a request', () => {
  it('is answered to its end', async (t) => {
    const server = await listen({} as Witness, { host: '127.0.0.1', port: 0, onError: assert.fail })
    t.after(() => server.close())
    const answered: unknown[] = []
    const response = {
      writeHead: (status: number) => answered.push(status),
      end: (body: string) => answered.push(body),
    }
    server.emit('request', { method: 'GET', url: '/' }, response)
    await turn()
    assert.deepEqual(answered, [404, 'this witness has only /add-checkpoint\n'])
  })
})

it('requests of two logs each have their line', async (t) => {
  const [log, other] = [await SignedLog.named(origin, 4), await SignedLog.named(`${origin}/2`, 4)]
  const witness = await startWitness(t, [log.signer.key, other.signer.key])
  for (const each of [log, other]) assert.equal((await witness.post(each.request(0, 4))).status, 200)
  const line = { event: 'checkpoint-cosigned', from: 0, size: 4 }
  assert.deepEqual(witness.infos, [
    { ...line, origin },
    { ...line, origin: `${origin}/2` },
  ])
})

describe('many requests of one log', () => {
  it('cosign again what is cosigned, but are kept and logged once a minute', async (t) => {
    const log = await SignedLog.named(origin, 9)
    const witness = await startWitness(t, [log.signer.key])
    const first = await witness.post(log.request(0, 4))
    const state = await witness.state()
    witness.now += 59_000
    const second = await witness.post(log.request(4, 4))
    assert.deepEqual([first.status, second.status], [200, 200])
    assert.notEqual(first.text, second.text)
    assert.deepEqual([await witness.state(), witness.infos.length], [state, 1])
    witness.now += 1_000
    assert.equal((await witness.post(log.request(4, 4))).status, 200)
    assert.notEqual(await witness.state(), state)
    assert.equal((await witness.post(log.request(4, 9))).status, 200)
    witness.now += 60_000
    assert.equal((await witness.post(log.request(9, 9))).status, 200)
    const line = { event: 'checkpoint-cosigned', origin }
    assert.deepEqual(witness.infos, [
      { ...line, from: 0, size: 4 },
      { ...line, from: 4, size: 4 },
      { ...line, from: 9, size: 9, leftOut: 1 },
    ])
  })

  it('that contradict each other are logged once a minute, and not at any length', async (t) => {
    const log = await SignedLog.named(origin, 9)
    const witness = await startWitness(t, [log.signer.key])
    await witness.post(log.request(0, 8))
    const fork = log.forkAt(4, 9)
    for (let count = 0; count < 5; count += 1) assertConflict(await witness.post(fork.request(8, 8)), 8)
    const [line, ...others] = witness.warnings as { note: string }[]
    assert.deepEqual([line?.note, others], [spellNote(fork.note(8)), []])
    witness.now += 60_000
    const note = fork.note(8)
    const long = { ...note, text: `${note.text}${'x'.repeat(60_000)}\n` }
    const signed = { ...long, signatures: [signatureBy(log.signer, long.text)] }
    assertConflict(await witness.post(spellRequest({ from: 8, path: [], note: signed })), 8)
    const [, last] = witness.warnings as { note: string; leftOut: number }[]
    assert.deepEqual([last?.leftOut, last?.note.length], [4, 16 * 1024 + 1])
  })
})

describe('many connections of one host', () => {
  it('keep nobody else from asking', async (t) => {
    const log = await SignedLog.named(origin, 4)
    const witness = await startWitness(t, [log.signer.key], { connectionsLimit: 20 })
    const { port } = new URL(witness.url)
    const sockets: Socket[] = []
    t.after(() => sockets.map((socket) => socket.destroy()))
    for (let count = 0; count < 25; count += 1) {
      const socket = connect({ host: '127.0.0.1', port: Number(port), localAddress: '127.0.0.2' })
      sockets.push(socket.on('error', () => undefined).resume())
      await once(socket, 'connect')
    }
    await Promise.all(sockets.slice(0, 5).map((socket) => socket.closed || once(socket, 'close')))
    const { status } = await witness.post(log.request(0, 4))
    assert.equal(status, 200)
  })
})

describe('requests at the same time', () => {
  it('get one cosignature for each size, and never one of a fork', async (t) => {
    const log = await SignedLog.named(origin, 40)
    const witness = await startWitness(t, [log.signer.key])
    await witness.post(log.request(0, 8))
    const branches = Array.from({ length: 12 }, (_, branch) => (branch % 2 === 0 ? log : log.forkAt(8, 32)))
    const bodies = branches.map((branch, index) => branch.request(8, 9 + index))
    const answers = await Promise.all(bodies.map((body) => witness.post(body)))
    const winner = answers.findIndex(({ status }) => status === 200)
    assert.equal(answers.filter(({ status }) => status === 200).length, 1)
    for (const [index, answer] of answers.entries()) {
      if (index !== winner) assertConflict(answer, 9 + winner)
    }
    assert.deepEqual(witness.errors, [])
  })

  it('let a body that comes slowly wait for itself alone', async (t) => {
    const log = await SignedLog.named(origin, 9)
    const witness = await startWitness(t, [log.signer.key])
    const body = log.request(0, 4)
    let finish: () => void = () => assert.fail()
    const slow = fetch(`${witness.url}/add-checkpoint`, {
      method: 'POST',
      duplex: 'half',
      body: new ReadableStream({
        start(controller) {
          controller.enqueue(Buffer.from(body.slice(0, 20)))
          finish = () => {
            controller.enqueue(Buffer.from(body.slice(20)))
            controller.close()
          }
        },
      }),
    })
    assert.equal((await witness.post(log.request(0, 9))).status, 200)
    finish()
    const { status, headers } = await slow
    assert.deepEqual([status, headers.get('content-type')], [409, 'text/x.tlog.size'])
  })
})

/** The requests and answers of litewitness in its own tests (github.com/FiloSottile/torchwood). */
describe('what another witness is asked', () => {
  it('is answered in the same way', async (t) => {
    const name = 'sigsum.org/v1/tree/4d6d8825a6bb689d459628312889dfbb0bcd41b5211d9e1ce768b0ff0309e562'
    const raw = Buffer.from('ffdc2d4d98e4124d3feaf788c0c2f9abfd796083d1f0495437f302ec79cf100f', 'hex')
    const witness = await startWitness(t, [await verifierKey(name, 'ed25519', Uint8Array.from(raw))])
    const one = `${name}\n1\nKgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n\n— ${name} UgIom7fPZTqpxWWhyjWduBvTvGVqsokMbqTArsQilegKoFBJQjUFAmQ0+YeSPM3wfUQMFSzVnnNuWRTYrajXpNUbIQY=\n`
    const three = `${name}\n3\nRcCI1Nk56ZcSmIEfIn0SleqtV7uvrlXNccFx595Iwl0=\n\n— ${name} UgIom2VbtIcdFbwFAy1n7s6IkAxIY6J/GQOTuZF2ORV39d75cbAj2aQYwyJre36kezNobZs4SUUdrcawfAB8WVrx6go=\n`
    const five = `${name}\n5\nQrtXrQZCCvpIgsSmOsah7HdICzMLLyDfxToMql9WTjY=\n\n— ${name} UgIomw/EOJmWi0i1FQsOj+etB7F8IccFam/jgd6wzRns4QPVmyEZtdvl1U2KEmLOZ/ASRcWJi0tW90dJWAShei7sDww=\n`
    const hash = (first: string) => `${first}${'A'.repeat(40)}=`
    const toThree = `old 1\n${hash('KgE')}\n${hash('KgI')}\n\n`
    const fromOne = `old 1\n${hash('KgE')}\n+fUDV+k970B4I3uKrqJM4aP1lloPZP8mvr2Z4wRw2LI=\n${hash('KgQ')}\n\n`
    const toFive = `old 3\n${hash('KgI')}\n${hash('KgM')}\nwgiIFdZfYNv6WU1OllBKsWnLYIS/DBMqt8Uh/S4OukE=\n${hash('KgQ')}\n\n`
    const exchanges: [body: string, status: number, text: RegExp][] = [
      [`old 0\n\n${one}`, 200, /^— witness\.example\/one /],
      [toThree + three.replace('6go=', '6gx='), 400, /base64/],
      [toThree + three.replace('Vrx6go=', 'Vrx7go='), 403, /did not sign/],
      [toThree + three.replaceAll('e562', 'e563'), 404, /does not know/],
      [`old 1\n\n${three}`, 422, /the length/],
      [toThree.replace('AAA=\n\n', 'ABA=\n\n') + three, 422, /only grew/],
      [toThree + three, 200, /^— witness\.example\/one /],
      [fromOne + five, 409, /^3\n$/],
      [toFive + five, 200, /^— witness\.example\/one /],
      [`old 0\n\n${five}`, 409, /^5\n$/],
    ]
    for (const [body, status, text] of exchanges) {
      const answer = await witness.post(body)
      assert.equal(answer.status, status, answer.text)
      assert.match(answer.text, text)
    }
  })
})
