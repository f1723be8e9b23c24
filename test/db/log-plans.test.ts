import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  countEventsOfKind,
  countMatches,
  eventsOfKinds,
  findMatches,
  type LogFilter,
} from '../../server/audit/lines/store.ts'
import { statementsOf, stepsOf } from '../support/plans.ts'
import { testService } from '../support/service.ts'

describe('the statements for a filter of the log read only', () => {
  const service = testService()

  /** How the count and then the page search for events. */
  async function looksOf(filter: LogFilter): Promise<string[]> {
    const statements = await statementsOf(service, async (db) => {
      await countMatches(db, 0, filter)
      await findMatches(db, 0, filter, { direction: 'desc', offset: 0, limit: 10 })
    })
    return stepsOf(service, statements).filter((step) => /\bevents\b/.test(step))
  }

  const subject = { kind: 'account', id: '1' }
  const byWho = 'SEARCH events USING COVERING INDEX events_by_who (<expr>=?)'
  const byKind = 'SEARCH events USING COVERING INDEX events_by_kind (kind=?)'
  const byTime = (bounds: string) => `SEARCH events USING COVERING INDEX events_by_time (${bounds})`
  const bySubject = 'SEARCH events USING INDEX events_by_subject (subject_id=? AND subject_kind=?)'
  const bySubjectAndKind =
    'SEARCH events USING INDEX events_by_subject_and_kind (subject_id=? AND subject_kind=? AND kind=?)'
  const itsRows = 'SEARCH events USING INTEGER PRIMARY KEY (rowid=?)'
  const cases: [LogFilter, string][] = [
    [{ by: 'machine:nobody', kind: 'user-added', until: 4e12 }, byWho],
    [{ by: 'machine:nobody' }, byWho],
    [{ kind: 'user-added' }, byKind],
    [{ kind: 'user-added', from: 0, until: 4e12 }, byKind],
    [{ from: 0, until: 4e12 }, byTime('at>? AND at<?')],
    [{ from: 0 }, byTime('at>?')],
    [{ subject, by: 'machine:nobody', from: 0 }, bySubject],
    [{ subject, by: 'machine:nobody', kind: 'user-added', from: 0 }, bySubjectAndKind],
  ]
  for (const [filter, access] of cases) {
    it(`the index and the rows of the page: ${Object.keys(filter).join(', ')}`, async () => {
      const looks = await looksOf(filter)
      const strays = looks.filter((detail) => detail !== itsRows && detail !== access)
      assert.deepEqual(strays, [])
      assert.equal(looks.filter((detail) => detail === access).length, 2)
    })
  }

  it('the events of some kinds, however many others the subject has', async () => {
    const statements = await statementsOf(service, async (db) => {
      await eventsOfKinds(db, subject, ['enabled', 'disabled'])
      await countEventsOfKind(db, subject, 'disabled')
    })
    const looks = stepsOf(service, statements).filter((step) => /\bevents\b/.test(step))
    assert.deepEqual(looks, [bySubjectAndKind, bySubjectAndKind.replace('INDEX', 'COVERING INDEX')])
  })
})
