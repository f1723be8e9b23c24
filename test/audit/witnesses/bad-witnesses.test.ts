import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { readRequest } from '../../../proof/add-checkpoint.ts'
import { readNote, spellSignature, verifyCosignature } from '../../../proof/note.ts'
import { cosignatureBy, type Signer, signatureBy } from '../../../witness/test/signed-log.ts'
import { startScripted } from '../../support/witness.ts'
import { failuresOf, instanceOf, settingOf, threeWitnesses } from '../../support/witnessed.ts'

describe('a witness that is', () => {
  /** Two good witnesses and this one, which answers badly. Returns the failure in the log. */
  async function failureOf(t: TestContext, script: Parameters<typeof startScripted>[1], options = {}) {
    const [good, other] = await threeWitnesses(t)
    const bad = await startScripted(t, script)
    const instance = await instanceOf(t, 4, [good, other, bad], 2)
    Object.assign(instance.options, options)
    await instance.start().look()
    const { checkpoint = '', size } = (await instance.cosigned()) ?? {}
    assert.equal(size, 4)
    const note = readNote(checkpoint)
    assert.ok(await verifyCosignature(note, good.signer.key))
    assert.equal(await verifyCosignature(note, bad.signer.key), undefined)
    assert.equal(note.signatures.length, 3)
    const [, , { cosignedAt, contradicts } = {}] = (await instance.report()).witnesses
    assert.equal(cosignedAt, undefined)
    const [failure, more] = failuresOf(instance.said())
    assert.equal(more, undefined)
    return { failure, contradicts, bad, instance, good }
  }

  const textOf = (body: string) => readRequest(body).note.text
  const soon = 1_800_000_000

  it('slow does not keep the others from a quorum', async (t) => {
    // The others have no more time.
    const options = { timeLimitMilliseconds: 3_000 }
    const silent = failureOf(t, () => undefined, options)
    const dripping = failureOf(t, (_, response) => void response.write('— '), options)
    for (const { failure } of await Promise.all([silent, dripping])) {
      assert.equal(failure, 'it did not answer in time')
    }
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
    await instance.lookLater(witnessing, 1)
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
    assert.equal((await instance.report()).witnesses[2]?.contradicts, undefined)
    bad.script = async (body, response) => {
      const quorum = { witnesses: [], needed: 1 }
      const findings = [{ witness: settingOf([bad]).replace(/ .*/, ''), says: 'ahead', size: 99 }] as const
      await instance.db.write('keepFindings', {
        era: 1,
        findings,
        cosigned: undefined,
        quorum,
        nowMilliseconds: 1,
      })
      response.end(spellSignature(cosignatureBy(bad.signer, textOf(body), soon)))
    }
    await instance.lookLater(instance.start(), 1)
    assert.equal((await instance.report()).witnesses[2]?.contradicts, 99)
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
