// engine: none
import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { describe, it } from 'node:test'
import type { Stamp } from '../server/caller/stamp.ts'
import type { AppDatabase } from '../server/db/port.ts'
import { jobs, mailKinds, operations, reads } from '../server/operations.ts'

const options = { limitMilliseconds: 1, caller: '' }
const root = new URL('../', import.meta.url)
const lists = await Promise.all(
  globSync('server/*/operations.ts', { cwd: root }).map((path) => import(new URL(path, root).href)),
)
const listed = (list: string) => lists.flatMap((slice) => Object.keys(slice[list] ?? {}))
const values = (list: string) => lists.flatMap((slice) => slice[list] ?? [])

describe('the registry', () => {
  it('has every operation and read that a slice lists, and no two of one name', () => {
    assert.ok(lists.length > 4)
    const own = ['runJob', 'holdLease', 'endLease', 'queueEventMails', 'seedDemo']
    assert.deepEqual([...listed('writes'), ...own].sort(), Object.keys(operations).sort())
    assert.deepEqual(listed('reads').sort(), Object.keys(reads).sort())
  })

  it('gives an operation no member that it does not read, not even from a spread', () => {
    const body = { customer: 'Acme', total: 10_000, colour: 'red' }
    const compiles = (db: AppDatabase, input: { stamp: Stamp; idempotency: null }) => [
      // @ts-expect-error the order has a colour
      db.write('createOrder', { ...input, order: { ...body, id: '' } }),
      // @ts-expect-error so has the input
      db.write('sealEvents', { ...body, limit: 1 }),
      // @ts-expect-error and the input of a read
      db.query('findPolicyWarnings', { ...body, rows: [], nowMilliseconds: 1 }, options),
      db.write('sealEvents', { limit: 1 }),
    ]
    assert.equal(typeof compiles, 'function')
  })

  it('has every job and kind of mail that a slice lists, and no two of one name', () => {
    for (const job of values('jobs')) assert.ok(jobs.includes(job), job.name)
    assert.deepEqual(new Set(values('mailKinds')), new Set(mailKinds))
    for (const named of [jobs, mailKinds]) {
      assert.equal(new Set(named.map(({ name }) => name)).size, named.length)
    }
  })
})
