// engine: none
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { isAccountName } from '../../server/auth/accounts/names.ts'

it('a name of an account or a role begins with a letter and has at most 64 letters, digits, dots, underscores and hyphens', () => {
  for (const name of ['a', 'Jo.Day_2-x', 'x'.repeat(64)]) assert.equal(isAccountName(name), true, name)
  for (const name of ['', '7', '.a', 'a b', 'jo\n', 'é', 'a/b', 'x'.repeat(65)]) {
    assert.equal(isAccountName(name), false, name)
  }
})
