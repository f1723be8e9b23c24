import '../../support/page.ts'
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isUndo } from '../../../web/src/ui/shortcuts.ts'

const none = { ctrlKey: false, metaKey: false, shiftKey: false, altKey: false }

describe('the key that undoes', () => {
  for (const [what, is, key, held] of [
    ['is Ctrl+Z', true, 'z', { ctrlKey: true }],
    ['is Command+Z', true, 'z', { metaKey: true }],
    ['is not a letter', false, 'z', {}],
    ['is no other letter', false, 'y', { ctrlKey: true }],
    ['is not the one that does it again', false, 'z', { metaKey: true, shiftKey: true }],
    ['is not one that types a character', false, 'z', { ctrlKey: true, altKey: true }],
  ] as const) {
    it(what, () => assert.equal(isUndo({ ...none, key, ...held }), is))
  }
})
