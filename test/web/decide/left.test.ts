import assert from 'node:assert/strict'
import { afterEach, describe, it } from 'node:test'
import type { Entry } from '../../../web/src/orders/decide/outbox.ts'
import { settled } from '../../support/page.ts'

const { dismissLeft, keepInBrowser, leaveInBrowser, leftByOthers, lookForLeft } = await import(
  '../../../web/src/orders/decide/left.ts'
)
const { inBrowser } = await import('../../../web/src/ui/persist.ts')

const entry = (key: string, kind: Entry['state']['kind'] = 'held', userId = 1): Entry => ({
  user: { id: userId, userName: 'mara' },
  action: 'reject',
  decision: { id: `order of ${key}`, etag: '"1"', idempotencyKey: key, reason: 'Too dear.' },
  order: { id: '', customer: 'Acme', total: 595.06, status: 0, createdAtUtc: '2026-11-20T09:30:00.000Z' },
  state: { kind, until: 0, progress: { kind: 'sending' } } as Entry['state'],
})

const stored = () => inBrowser.names('decision.').map((name) => inBrowser.read(name))
const found = () => [...leftByOthers.get()]

describe('what a browser keeps of decisions that are not settled', () => {
  afterEach(() => {
    keepInBrowser([])
    lookForLeft(-1)
  })

  it('is whose they are, about which order, and whether they were sent, until they are settled', async () => {
    keepInBrowser([entry('one'), entry('two')])
    await settled()
    keepInBrowser([entry('two', 'under-way')])
    assert.deepEqual(stored(), ['{"userId":1,"id":"order of two","isSent":true}'])
    keepInBrowser([])
    assert.deepEqual(stored(), [])
  })

  it('is nothing once they are settled, however soon', async () => {
    keepInBrowser([entry('one')])
    keepInBrowser([])
    await settled()
    assert.deepEqual(stored(), [])
  })

  it('is reported when their page is gone, not while it is there, and until it is dismissed', async () => {
    keepInBrowser([entry('one'), entry('two', 'under-way')])
    await settled()
    assert.equal(lookForLeft(1), 0)
    await settled()
    assert.deepEqual(found(), [])
    leaveInBrowser()
    lookForLeft(1)
    await settled()
    assert.deepEqual(found(), [
      ['one', { userId: 1, id: 'order of one', isSent: false }],
      ['two', { userId: 1, id: 'order of two', isSent: true }],
    ])
    dismissLeft(['one'])
    assert.deepEqual(
      found().map(([key]) => key),
      ['two'],
    )
    inBrowser.drop('decision.two')
    lookForLeft(1)
    assert.deepEqual(found(), [])
  })

  it('is reported while another page waits for its end, unless it was settled', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const held = navigator.locks.request('countersign.decision.one', () => promise)
    inBrowser.write('decision.one', '{"userId":1,"id":"a","isSent":false}')
    lookForLeft(1)
    lookForLeft(1)
    await settled()
    assert.deepEqual(found(), [])
    resolve()
    await held
    await settled()
    assert.equal(found().length, 1)
  })

  it('is dropped when someone else comes, who learns how many were not sent', async () => {
    keepInBrowser([entry('one'), entry('two', 'under-way')])
    await settled()
    leaveInBrowser()
    assert.equal(lookForLeft(2), 1)
    await settled()
    assert.deepEqual([stored(), found()], [[], []])
  })

  it('is dropped if another version of the app wrote it', async () => {
    for (const [name, value] of [
      ['null', null],
      ['a text', 'approve'],
      ['no id', { userId: 1, isSent: false }],
      ['nobody', { id: 'a', isSent: false }],
      ['no state', { userId: 1, id: 'a' }],
    ] as const) {
      inBrowser.write(`decision.${name}`, JSON.stringify(value))
      assert.equal(lookForLeft(1), 0)
      await settled()
      assert.deepEqual([stored(), found()], [[], []], name)
    }
  })
})
