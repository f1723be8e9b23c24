import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'

/** A browser's storage, as far as the app uses it: its names are its own properties. */
class FakeStorage {
  getItem = (name: string) => Object.getOwnPropertyDescriptor(this, name)?.value ?? null
  setItem(name: string, text: string) {
    if (isFull) throw new Error('full')
    Object.assign(this, { [name]: text })
  }
  removeItem = (name: string) => Reflect.deleteProperty(this, name)
}
let isFull = false
Object.defineProperty(globalThis, 'localStorage', { value: new FakeStorage(), configurable: true })

const { inBrowser, parsed } = await import('../../../web/src/ui/persist.ts')

describe('what survives a reload', () => {
  beforeEach(() => {
    isFull = false
    for (const name of inBrowser.names('test.')) inBrowser.drop(name)
  })

  it('is stored under the name of the app', () => {
    inBrowser.write('test.theme', 'dark')
    assert.equal(localStorage.getItem('countersign.test.theme'), 'dark')
    assert.equal(inBrowser.read('test.theme'), 'dark')
  })

  it('lasts as long as the page if storage refuses it', () => {
    inBrowser.write('test.theme', 'dark')
    isFull = true
    inBrowser.write('test.theme', 'light')
    assert.deepEqual(
      [inBrowser.read('test.theme'), localStorage.getItem('countersign.test.theme')],
      ['light', 'dark'],
    )
    inBrowser.drop('test.theme')
    assert.equal(inBrowser.read('test.theme'), null)
  })

  it('is listed by the beginning of its name, without entries of other apps', () => {
    localStorage.setItem('test.decision.x', '')
    inBrowser.write('test.decision.a', '1')
    inBrowser.write('test.theme', 'dark')
    isFull = true
    inBrowser.write('test.decision.a', '3')
    inBrowser.write('test.decision.b', '2')
    assert.deepEqual(inBrowser.names('test.decision.'), ['test.decision.a', 'test.decision.b'])
  })

  it('is ignored if another version of the app wrote it', () => {
    assert.deepEqual([parsed('{'), parsed(null), parsed('[1]')], [undefined, undefined, [1]])
  })
})
