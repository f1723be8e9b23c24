import assert from 'node:assert/strict'
import { it } from 'node:test'
import '../../support/page.ts'

const { announce, silence, toasts } = await import('../../../web/src/ui/announce.ts')

it('a repeated message is shown for its whole time', (t) => {
  silence()
  t.mock.timers.enable({ apis: ['setTimeout'] })
  announce('Copied')
  t.mock.timers.tick(5_000)
  announce('Copied')
  t.mock.timers.tick(5_000)
  assert.deepEqual(
    toasts.get().map(({ text }) => text),
    ['Copied'],
  )
  t.mock.timers.tick(1_000)
  assert.deepEqual(toasts.get(), [])
})
