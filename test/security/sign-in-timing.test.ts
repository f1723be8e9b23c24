import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { machineStamp } from '../../server/caller/stamp.ts'
import { newUser, type TestUser } from '../support/accounts.ts'
import { testService } from '../support/service.ts'

/** Takes a minute: only with SECURITY_LONG=1. */
const isLong = process.env.SECURITY_LONG === '1'
const tries = 240
/** One less than the free tries of an account from an address. */
const triesOfAccount = 4

describe('how long a refused sign-in takes', { skip: !isLong && 'SECURITY_LONG is not 1' }, () => {
  const service = testService()
  let users: TestUser[]
  let disabled: TestUser[]
  before(async () => {
    const make = () => Promise.all(Array.from({ length: tries / triesOfAccount }, () => newUser(service)))
    users = await make()
    disabled = await make()
    for (const { account } of disabled) {
      const change = { account, enabled: false, stamp: machineStamp(service.now()) }
      await service.db.write('setAccountEnabled', change)
    }
  })

  async function timeOf(email: string, password: string): Promise<number> {
    const begunAt = performance.now()
    const { status } = await service.client().post('/v1/auth/token', { email, password })
    const took = performance.now() - begunAt
    assert.equal(status, 401)
    return took
  }

  /** The chance that one of the first takes longer than one of the second: a half if they do not differ. */
  function chanceOfLonger(first: number[], second: number[]): number {
    const longer = first.flatMap((one) => second.map((other) => (one > other ? 1 : one === other ? 0.5 : 0)))
    return longer.reduce((sum: number, one) => sum + one, 0) / longer.length
  }

  it('does not reveal whether the user exists or is disabled, or the password was right', async (t) => {
    const causes: Record<string, (turn: number) => [email: string, password: string]> = {
      'a wrong password': (turn) => [users[turn % users.length]?.email ?? '', 'not the password of anybody'],
      'an unknown user': (turn) => [`nobody-${turn}@example.com`, 'not the password of anybody'],
      'a disabled user, a wrong password': (turn) => [
        disabled[turn % disabled.length]?.email ?? '',
        'not the password of anybody',
      ],
      'a disabled user, the right password': (turn) => {
        const user = disabled[turn % disabled.length]
        return [user?.email ?? '', user?.password ?? '']
      },
    }
    const names = Object.keys(causes)
    const times = new Map<string, number[]>(names.map((name) => [name, []]))
    for (let turn = 0; turn < tries; turn += 1) {
      // Both kinds of a disabled user count as failures of one account.
      if (turn % (tries / triesOfAccount) === 0) service.advance(25 * 3_600_000)
      // The kinds take turns, and each round begins with another one, so that other work of the machine
      // affects all alike.
      for (let index = 0; index < names.length; index += 1) {
        const name = names[(turn + index) % names.length] ?? ''
        const [email, password] = causes[name]?.(turn) ?? ['', '']
        times.get(name)?.push(await timeOf(email, password))
      }
    }
    const [first = '', ...others] = names
    for (const other of others) {
      const chance = chanceOfLonger(times.get(first) ?? [], times.get(other) ?? [])
      t.diagnostic(`${first} takes longer than ${other}: ${chance.toFixed(3)}`)
      assert.ok(chance > 0.35 && chance < 0.65, `${other}: ${chance}`)
    }
  })

  it('would reveal it without the check against a dummy hash (so the test can see a difference)', () => {
    const slow = Array.from({ length: 100 }, (_, index) => 12 + (index % 7))
    const quick = Array.from({ length: 100 }, (_, index) => 1 + (index % 7))
    assert.equal(chanceOfLonger(slow, quick), 1)
    assert.ok(Math.abs(chanceOfLonger(slow, slow) - 0.5) < 0.01)
  })
})
