import '../../support/page.ts'
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { isolated } from '../../../rules/isolate.ts'

const { inWhoseName } = await import('../../../web/src/orders/decide/whose-name.ts')

const [ann, bo] = [isolated('ann'), isolated('bo')]
const forBo = { mayApproveFor: { id: 2, name: 'bo' } }
const inOwn = { mayApproveFor: null }
const absent = ['ann', 'bo']

const names: [...Parameters<typeof inWhoseName>, name: string][] = [
  ['approve', { absent: [], isOwn: true }, 'in your name'],
  ['approve', { absent, isOwn: true }, `in your name if you can, otherwise for ${ann} or ${bo}`],
  ['approve', { absent, isOwn: false }, `for ${ann} or ${bo}`],
  ['approve', { absent, isOwn: true, approvals: inOwn }, 'in your name'],
  ['approve', { absent, isOwn: true, approvals: forBo }, `for ${bo}`],
  ['reject', { absent, isOwn: true, approvals: forBo }, 'in your name'],
  ['reject', { absent, isOwn: false, approvals: forBo }, `for ${ann}`],
]

it('a decision is in the name of the person who has the right to it', () => {
  assert.deepEqual(
    names.map(([action, known]) => inWhoseName(action, known)),
    names.map(([, , name]) => name),
  )
})
