import '../../support/page.ts'
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { faultOfFile, sizeInWords, wayToShow, withFiles } from '../../../web/src/orders/documents/files.ts'

const sized = (size: number, name = 'Offer.pdf') => ({ name, size })

describe('a document', () => {
  it('is shown as a picture, in a sandbox, or by the viewer of the browser, and nothing else is shown', () => {
    const way = (mediaType: string, hasPdfViewer = true, erased = false) =>
      wayToShow({ mediaType, erased }, hasPdfViewer)
    assert.deepEqual(
      [
        'image/png',
        'image/webp',
        'text/plain',
        'application/pdf',
        'application/octet-stream',
        'text/html',
      ].map((type) => way(type)),
      ['picture', 'picture', 'sandbox', 'frame', undefined, undefined],
    )
    assert.equal(way('application/pdf', false), undefined)
    assert.equal(way('image/png', true, true), undefined)
  })

  it('can be a file of 1 byte to 5 MiB with a name of 120 characters', () => {
    const limit = 5 * 2 ** 20
    for (const size of [1, limit]) assert.equal(faultOfFile(sized(size)), undefined)
    assert.equal(faultOfFile(sized(0)), 'It is empty.')
    assert.equal(faultOfFile(sized(limit + 1)), 'It is larger than 5 MiB.')
    assert.equal(faultOfFile(sized(1, '😀'.repeat(120))), undefined)
    assert.equal(faultOfFile(sized(1, '😀'.repeat(121))), 'Its name has more than 120 characters.')
  })

  it('takes the place of a chosen one with its name, and there are five at most', () => {
    const file = (name: string, text = name) => new File([text], name)
    const [a, b, other] = [file('a'), file('b'), file('a', 'other')]
    assert.deepEqual(withFiles([a, b], [other]), [b, other])
    assert.deepEqual(
      withFiles(
        [a, b],
        ['c', 'd', 'e', 'f'].map((name) => file(name)),
      ).map(({ name }) => name),
      ['a', 'b', 'c', 'd', 'e'],
    )
  })

  it('has its size in words', () => {
    const words = [1, 1023, 1536, 2 ** 20, 5 * 2 ** 20].map((bytes) => sizeInWords(bytes, String))
    assert.deepEqual(words, ['1 byte', '1023 bytes', '1.5 KiB', '1 MiB', '5 MiB'])
  })
})
