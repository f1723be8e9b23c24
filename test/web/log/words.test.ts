import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { parametersOf, parseLogSearch } from '../../../web/src/log/search.ts'
import { subjectInWords, wordsOf } from '../../../web/src/log/words.ts'

const auditing = readFileSync(new URL('../../../docs/auditing.md', import.meta.url), 'utf8')
const table = auditing.slice(auditing.indexOf('## The kinds of events'))
/** The second column, which may name several. */
const documented = [...table.matchAll(/^\|[^|]*\|([^|]*)\|/gm)].flatMap(([, cell = '']) =>
  [...cell.matchAll(/`([a-z-]+)`/g)].map(([, kind = '']) => kind),
)

describe('the words of the log', () => {
  it('exist for every kind that docs/auditing.md lists', () => {
    assert.ok(documented.length > 30, documented.join())
    const strays = documented.filter((kind) => wordsOf(kind).label === kind)
    assert.deepEqual(strays, [])
  })

  it('are the name of the kind if it is unknown', () => {
    assert.deepEqual(wordsOf('constructor'), { label: 'constructor', verb: 'constructor:' })
  })

  it('name the subject of the event', () => {
    const said = (kind: string, id: string, said = {}) =>
      subjectInWords({ subject: { kind, id }, data: {}, clear: {}, ...said })
    const order = said('order', 'x', {
      clear: { customer: { value: 'Zoë', salt: '' } },
      data: { total: '1250.5' },
    })
    assert.equal(order, 'the order for Zoë, 1,250.50')
    assert.equal(said('order', 'x', { data: { total: '1' } }), 'an order, 1.00')
    assert.equal(said('order', 'x'), 'an order')
    assert.equal(said('account', '3', { clear: { name: { value: 'jo', salt: '' } } }), 'jo')
    assert.equal(said('account', '3', { clear: { name: { value: null, salt: null } } }), 'account 3')
    assert.equal(said('account', '*', { data: { users: 1_204 } }), '1,204 users')
    assert.equal(said('role', 'Clerk'), 'Clerk')
    assert.equal(said('policy', 'approval'), 'the approval policy')
    assert.equal(said('log', '1043'), 'log entry #1,043')
  })

  it('say what changed', () => {
    const more = (kind: string, data: Record<string, unknown>) => wordsOf(kind).more?.(data)
    assert.equal(
      more('user-changed', {
        name: 'b',
        formerName: 'a',
        email: 'changed',
        timeZone: null,
        granted: ['Admin'],
      }),
      'formerly a; new email; time zone none; added Admin',
    )
    assert.equal(more('client-changed', { revoked: ['X', 'Y'], enabled: false }), 'removed X, Y; disabled')
    assert.equal(more('client-changed', { ownerId: null }), 'owner none')
    assert.equal(more('client-added', { roles: ['X'], owner: 'ann', ownerId: 3 }), '(X), owner ann')
    assert.equal(more('client-added', { roles: ['X'] }), '(X)')
    assert.equal(more('permissions-set', { allowed: [], denied: ['Log.Read'] }), 'removed Log.Read')
    assert.equal(more('roles-granted', { roles: ['Admin'] }), '(Admin)')
    assert.equal(more('role-added', { permissions: [] }), '')
  })
})

describe('the address of the log', () => {
  it('requests the newest first', () => {
    assert.deepEqual(parametersOf(parseLogSearch({})), { order: 'Desc', pageSize: 25 })
  })

  it('requests days as the instants at which they begin and end', () => {
    const search = parseLogSearch({ from: '2026-11-20', to: '2026-11-20', by: ' jo ', kind: 'approved' })
    const { from, until, ...others } = parametersOf(search)
    assert.deepEqual(others, { order: 'Desc', pageSize: 25, kind: 'approved', by: 'jo' })
    assert.equal(new Date(from ?? '').getTime(), new Date(2026, 10, 20).getTime())
    assert.equal(new Date(until ?? '').getTime(), new Date(2026, 10, 21).getTime())
  })

  it('leaves out values that make no sense', () => {
    const search = parseLogSearch({ from: '2026-02-30', to: 3, by: ' ', pageNumber: '-1', pageSize: '7' })
    assert.deepEqual(Object.values(search).filter(Boolean), [])
  })
})
