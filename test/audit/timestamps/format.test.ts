// engine: none
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { checkAnswer, requestFor } from '../../../server/audit/timestamps/timestamps.ts'
import { answerOf, hashIn } from '../../support/authority.ts'

const text = 'orders.example.com/log\n1\nAAAA\n'
const hash = hashIn(Buffer.from(requestFor(text)))
/** `openssl ts -reply` to a request by SHA-512. */
const refusal =
  '303730350201' +
  '02302c0c2a4d65737361676520646967657374206' +
  '16c676f726974686d206973206e6f7420737570706f727465642e03020780'

const check = (answer: Buffer) => checkAnswer(answer, text)
const notDer = { message: 'its answer is not a TimeStampResp' }

describe('the request for a timestamp', () => {
  it('is that of openssl ts -query -sha256 -cert -no_nonce', () => {
    const request =
      '30390201013031300d060960864801650304020105000420' +
      '63bd530993265306cb7bd5a6e25d6a8f0185e4b6c52adb4e5aabf5b444819068' +
      '0101ff'
    assert.equal(Buffer.from(requestFor(text)).toString('hex'), request)
  })
})

describe('the answer of the authority', () => {
  it('is kept if the request was granted, with or without modifications', () => {
    for (const status of [0, 1]) check(answerOf(status, hash))
  })

  it('is not kept with another status, and says why', () => {
    for (const status of [2, 3, 4, 5, 127]) {
      assert.throws(() => check(answerOf(status, hash)), { message: `it refused with status ${status}` })
    }
    assert.throws(() => check(Buffer.from(refusal, 'hex')), {
      message: 'it refused with status 2: Message digest algorithm is not supported.',
    })
  })

  it('is not kept without the hash of the text in its token', () => {
    const other = hashIn(Buffer.from(requestFor(`${text}x`)))
    const elsewhere = { message: 'its timestamp is for something else' }
    assert.throws(() => check(answerOf(0, other)), elsewhere)
    const inStatus = Buffer.concat([Buffer.of(0x30, 41, 0x30, 39, 2, 1, 0, 0x30, 34, 0x0c, 32), hash])
    assert.throws(() => check(inStatus), elsewhere)
    assert.throws(() => check(Buffer.from('30053003020100', 'hex')), elsewhere)
  })

  it('is not kept if it is cut off, longer, or something else', () => {
    const whole = answerOf(0, hash)
    for (let length = 0; length < whole.length; length += 1) {
      assert.throws(() => check(whole.subarray(0, length)), notDer, String(length))
    }
    assert.throws(() => check(Buffer.concat([whole, Buffer.of(0)])), {
      message: 'its answer goes on after its end',
    })
    for (const hex of ['3080', '3085', '308500000000', '30ff', '3000', '300230', '31053003020100']) {
      assert.throws(() => check(Buffer.from(hex, 'hex')), notDer, hex)
    }
    assert.throws(() => check(Buffer.from('<!doctype html>')), notDer)
    // BER has lengths that DER has not.
    const padded = Buffer.concat([whole.subarray(2), Buffer.alloc(128 - whole.length + 2)])
    for (const length of ['80', '8700000000000080']) {
      assert.throws(() => check(Buffer.concat([Buffer.from(`30${length}`, 'hex'), padded])), notDer, length)
    }
    assert.throws(() => check(Buffer.from('300530030201003081', 'hex')), {
      message: 'its answer goes on after its end',
    })
  })

  it('is read with a length of any size', () => {
    const whole = answerOf(0, hash)
    for (const length of ['8127', '820027', '83000027', '8400000027']) {
      check(Buffer.concat([Buffer.of(0x30), Buffer.from(length, 'hex'), whole.subarray(2)]))
    }
    const large = Buffer.concat([Buffer.from('308204053003020100', 'hex'), Buffer.alloc(992), hash])
    check(large)
    assert.throws(() => check(large.subarray(0, -1)), notDer)
  })
})
