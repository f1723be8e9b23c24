import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Directory } from '../../server/auth/accounts/directory.ts'
import { machineStamp } from '../../server/caller/stamp.ts'
import { newUser } from '../support/accounts.ts'
import { testService } from '../support/service.ts'

describe('what an instance remembers of accounts', () => {
  const service = testService({ inside: true })

  it('is nothing that was read before a change, also if the read ends after it', async () => {
    const user = await newUser(service)
    const changed = Promise.withResolvers<void>()
    let isRead = false
    const read = service.db.read.withPlugin({
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        isRead = true
        await changed.promise
        return result
      },
    })
    const directory = new Directory({ ...service.db, read }, service.now, 300)
    const subject = String(user.id)
    const slow = directory.principal(subject)
    while (!isRead) await nextTurn()
    const input = { account: user.account, enabled: false, stamp: machineStamp(service.now()) }
    await directory.change('setAccountEnabled', input)
    changed.resolve()
    assert.equal((await slow)?.enabled, true)
    assert.equal((await directory.principal(subject))?.enabled, false)
  })
})
