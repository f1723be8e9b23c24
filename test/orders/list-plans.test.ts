import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseFilter } from '../../server/orders/filter/parser.ts'
import { type Count, type Page, planCount, planPage } from '../../server/orders/list/plan.ts'
import type { SortKey } from '../../server/orders/order.ts'
import { listRequest } from '../support/orders.ts'

/** A million orders, of which 400,000 are pending. */
const million = new Map([
  [0, 400_000],
  [1, 600_000],
])

const ofFourStates = new Map([
  [0, 310_000],
  [1, 600_000],
  [2, 60_000],
  [3, 30_000],
])

const ofFewPending = new Map([
  [0, 10_000],
  [1, 990_000],
])

function countInWords(count: Count): string {
  if (count.by === 'tally') return `tally ${count.statuses.join()}`
  if (count.by === 'rest') return `all but ${countInWords(count.of)}`
  if (count.by === 'text') return `text ${count.text}`
  return count.ofFew ? 'looking at few' : 'looking'
}

function pageInWords(page: Page): string {
  if (page.by === 'nothing') return 'nothing'
  const where = `${page.isReversed ? 'from the end, ' : ''}after ${page.skip}`
  if (page.by === 'sort') return `sort ${page.ofFew ? 'few ' : ''}${where}`
  if (page.by === 'text') return `text ${page.text} ${where}`
  if (page.by === 'customer') return `customer ${page.customer} ${where}`
  return `walk ${page.index}${page.statuses === null ? '' : ` of ${page.statuses.join()}`} ${where}`
}

describe('how the matches are counted', () => {
  const plans: [filter: string, count: string][] = [
    ['', 'tally 0,1'],
    ['status=Pending', 'tally 0'],
    ['status:Approved', 'tally 1'],
    ['status!=Approved', 'tally 0'],
    ['status=Pending status=Approved', 'tally '],
    ['NOT status=Pending', 'tally 1'],
    ['status=Pending OR status=Approved', 'tally 0,1'],
    ['status=Pending OR acme', 'looking'],
    ['NOT (status=Pending total>5)', 'all but looking'],
    ['acme', 'text acme'],
    ['ACME', 'text acme'],
    ['customer:"a b c"', 'text a b c'],
    ['customer:ac', 'looking'],
    ['-acme', 'all but text acme'],
    ['NOT (acme)', 'all but text acme'],
    ['-total>5', 'all but looking'],
    ['acme status=Pending', 'looking'],
    ['acme OR zeta', 'looking'],
    ['acme zeta', 'looking'],
    // Either a text or the beginning of an id.
    ['cafe', 'looking'],
    ['cafés', 'text cafés'],
    ['customer=acme', 'looking'],
    ['customer="*acme"', 'looking'],
    ['customer!=acme', 'looking'],
    ['createdBy:acme', 'looking'],
    ['total>=5', 'looking'],
    ['waits:me', 'looking'],
    ['-waits:me', 'all but looking'],
    ['approvalsMissing>0', 'looking'],
    ['createdAtUtc=2026-01-01', 'looking'],
    ['updatedAtUtc:*', 'looking'],
    ['id=019a9d2e-5b7c-7f3a-9c41-6d2f8e0b1a57', 'looking'],
    ['#1042', 'looking'],
  ]
  for (const [filter, count] of plans) {
    it(`of '${filter}': ${count}`, () => {
      assert.equal(countInWords(planCount(parseFilter(filter), million)), count)
    })
  }

  for (const [filter, count] of [
    ['status!=Approved', 'tally 0,2,3'],
    ['NOT status=Approved', 'tally 0,2,3'],
    ['status=Pending OR status=Rejected', 'tally 0,2'],
    ['NOT (status=Pending OR status!=Rejected)', 'tally 2'],
    ['(status=Pending OR status=Rejected) -status=2', 'tally 0'],
    ['status=Rejected total>5', 'looking'],
    ['status=Rejected -status=2 total>5', 'looking at few'],
  ] as const) {
    it(`of '${filter}', where there are orders of four states: ${count}`, () => {
      assert.equal(countInWords(planCount(parseFilter(filter), ofFourStates)), count)
    })
  }
})

const anId = '019a9d2e-5b7c-7f3a-9c41-6d2f8e0b1a57'
type PagePlan = [filter: string, sort: SortKey, matches: number, offset: number | null, page: string]

function describePages(
  what: string,
  table: { byStatus: Map<number, number>; isInOrder: boolean },
  plans: PagePlan[],
) {
  describe(`how a page is found ${what}`, () => {
    for (const [filter, sort, matches, offset, page] of plans) {
      it(`of ${matches} of '${filter}' by ${sort} from ${offset ?? 'the start, all'}: ${page}`, () => {
        const planned = planPage(listRequest(filter, sort, offset), { ...table, matches })
        assert.equal(pageInWords(planned), page)
      })
    }
  })
}

describePages('where there are orders of four states', { byStatus: ofFourStates, isInOrder: true }, [
  ['status!=Approved', 'createdAtUtc', 400_000, 0, 'walk orders_by_status of 0,2,3 after 0'],
  ['status!=Approved status!=Withdrawn', 'id', 370_000, 0, 'walk orders_by_status of 0,2 after 0'],
  ['status=Rejected', 'createdAtUtc', 60_000, 0, 'walk orders_by_status of 2 after 0'],
  ['status!=Approved', 'status', 400_000, 0, 'walk orders_by_status after 0'],
  ['status=Pending OR status=Rejected', 'createdAtUtc', 370_000, 0, 'walk orders_by_status of 0,2 after 0'],
  ['status=Pending OR status=Rejected', 'status', 370_000, 0, 'walk orders_by_status after 0'],
  ['status=Pending OR total>=5', 'createdAtUtc', 370_000, 0, 'walk orders after 0'],
  ['status!=Approved total>=5', 'createdAtUtc', 9_000, 0, 'walk orders_by_status of 0,2,3 after 0'],
  ['status!=Approved total>=5', 'createdAtUtc', 900, 0, 'sort after 0'],
])

describePages('where few are pending', { byStatus: ofFewPending, isInOrder: true }, [
  ['waits:me', 'createdAtUtc', 9_000, 0, 'walk orders_by_status of 0 after 0'],
  ['waits:me total>=5', 'createdAtUtc', 20, 0, 'sort few after 0'],
  ['waits:me total>=5', 'total', 9_000, 0, 'walk orders_by_total after 0'],
  ['status=Pending total>=5', 'total', 20, 0, 'sort few after 0'],
  ['total>=5', 'createdAtUtc', 20, 0, 'sort after 0'],
])

describePages('where most are approved', { byStatus: million, isInOrder: true }, [
  ['', 'createdAtUtc', 1_000_000, 0, 'walk orders_by_id after 0'],
  ['', 'id', 1_000_000, 20, 'walk orders_by_id after 20'],
  [`id>${anId}`, 'id', 500_000, 0, 'walk orders_by_id after 0'],
  [`(total>=5) AND id>${anId}`, 'id', 500_000, 0, 'walk orders_by_id after 0'],
  [`(status=Pending) AND id>${anId}`, 'id', 90_000, 0, 'walk orders_by_status of 0 after 0'],
  [`(status=Pending) AND (id=${anId} OR id=${anId})`, 'total', 1, 0, 'sort after 0'],
  ['', 'customer', 1_000_000, 0, 'walk orders_by_customer after 0'],
  ['', 'total', 1_000_000, 0, 'walk orders_by_total after 0'],
  ['', 'status', 1_000_000, 0, 'walk orders_by_status after 0'],
  ['', 'updatedAtUtc', 1_000_000, 0, 'walk orders_by_updated_at after 0'],
  // Starts at the nearer end, and goes no further than there are orders.
  ['', 'total', 1_000_000, 400_000, 'walk orders_by_total after 400000'],
  ['', 'total', 1_000_000, 600_000, 'walk orders_by_total from the end, after 399980'],
  ['', 'total', 1_000_000, 999_980, 'walk orders_by_total from the end, after 0'],
  ['', 'total', 1_000_000, 999_990, 'walk orders_by_total from the end, after 0'],
  ['', 'total', 1_000_000, 1_000_000, 'nothing'],
  ['', 'total', 0, 0, 'nothing'],
  ['', 'total', 9_999, null, 'walk orders_by_total after 0'],
  // A list of one status by creation skips orders of other statuses.
  ['status=Pending', 'createdAtUtc', 400_000, 0, 'walk orders_by_status of 0 after 0'],
  ['status!=Approved', 'id', 400_000, 0, 'walk orders_by_status of 0 after 0'],
  ['status=Pending', 'status', 400_000, 0, 'walk orders_by_status after 0'],
  ['status=Pending', 'total', 400_000, 0, 'walk orders_by_total after 0'],
  ['status=Pending createdAtUtc>=2026-01-01', 'id', 90_000, 0, 'walk orders_by_status of 0 after 0'],
  ['status=Pending createdAtUtc>=2026-01-01', 'createdAtUtc', 9, 0, 'walk orders_by_status of 0 after 0'],
  // A range of the sort is a part of its index, wherever the page lies.
  ['total>=5 total<6', 'total', 10_000, 0, 'walk orders_by_total after 0'],
  ['total>=5 total<6', 'total', 10_000, 5_000, 'walk orders_by_total from the end, after 4980'],
  ['createdAtUtc=2026-01-01', 'createdAtUtc', 10_000, 4_000, 'walk orders_by_id after 4000'],
  ['createdAtUtc=2026-01-01', 'id', 10_000, 4_000, 'walk orders_by_id after 4000'],
  ['updatedAtUtc>2026-01-01', 'updatedAtUtc', 3, 0, 'walk orders_by_updated_at after 0'],
  // Common matches are found by a walk, which soon meets them. Rare ones are found by an index and sorted.
  ['total>=5 total<6', 'createdAtUtc', 10_000, 0, 'walk orders after 0'],
  ['total>=5 total<6', 'createdAtUtc', 4_000, 0, 'sort after 0'],
  ['total>=5 total<6', 'createdAtUtc', 10_000, 400, 'sort after 400'],
  ['total!=5', 'total', 999_000, 0, 'walk orders_by_total after 0'],
  ['createdAtUtc=2026-01-01', 'total', 10_000, 0, 'walk orders_by_total after 0'],
  ['createdAtUtc=2026-01-01', 'total', 1_000, 0, 'sort after 0'],
  ['status=Pending total>=5', 'createdAtUtc', 3_000, 0, 'walk orders_by_status of 0 after 0'],
  ['status=Pending total>=5', 'createdAtUtc', 2_000, 0, 'sort after 0'],
  // Conditions that only pending orders meet are looked for among those.
  ['waits:me', 'createdAtUtc', 300_000, 0, 'walk orders_by_status of 0 after 0'],
  ['waits:me', 'createdAtUtc', 9, 0, 'sort after 0'],
  ['approvalsMissing>=2', 'id', 300_000, 0, 'walk orders_by_status of 0 after 0'],
  ['approvalsMissing<2', 'id', 700_000, 0, 'walk orders after 0'],
  ['createdBy=ada', 'createdAtUtc', 5, 0, 'sort after 0'],
  ['#1042', 'createdAtUtc', 1, 0, 'sort after 0'],
  ['#1042', 'customer', 1, 0, 'sort after 0'],
  ['NOT status=Pending', 'createdAtUtc', 600_000, 0, 'walk orders_by_status of 1 after 0'],
  ['-total>5', 'createdAtUtc', 600_000, 0, 'walk orders after 0'],
  // The orders of one customer lie together in the order of creation, however many they are.
  ['customer=acme', 'createdAtUtc', 50, 0, 'customer acme after 0'],
  ['customer="ACME GmbH"', 'id', 200_000, 0, 'customer acme gmbh after 0'],
  ['customer=acme', 'createdAtUtc', 200_000, 199_980, 'customer acme from the end, after 0'],
  ['customer=acme', 'createdAtUtc', 0, 0, 'nothing'],
  ['customer="acme*"', 'createdAtUtc', 200_000, 0, 'walk orders after 0'],
  ['customer!=acme', 'createdAtUtc', 800_000, 0, 'walk orders after 0'],
  ['createdBy=ada', 'createdAtUtc', 200_000, 0, 'walk orders after 0'],
  ['customer=acme', 'total', 200_000, 0, 'walk orders_by_total after 0'],
  ['customer=acme total>5', 'createdAtUtc', 50, 0, 'sort after 0'],
  // Matches of a text are found in the order of creation.
  ['acme', 'createdAtUtc', 10_000, 0, 'text acme after 0'],
  ['acme', 'id', 10_000, 9_980, 'text acme from the end, after 0'],
  ['acme', 'createdAtUtc', 3, 0, 'text acme after 0'],
  ['acme status=Pending', 'createdAtUtc', 4_000, 40, 'text acme after 40'],
  ['total>5 customer:acme', 'createdAtUtc', 4_000, 0, 'text acme after 0'],
  ['acme zeta', 'createdAtUtc', 4, 0, 'text acme after 0'],
  ['ac', 'createdAtUtc', 100_000, 0, 'walk orders after 0'],
  ['acme OR zeta', 'createdAtUtc', 20_000, 0, 'walk orders after 0'],
  ['-acme', 'createdAtUtc', 990_000, 0, 'walk orders after 0'],
  ['acme', 'total', 10_000, 0, 'walk orders_by_total after 0'],
  ['acme', 'total', 1_000, 0, 'sort after 0'],
  // Names that contain the text lie together in the order of names.
  ['acme', 'customer', 10_000, 0, 'sort after 0'],
  ['acme status=Pending', 'customer', 10_000, 0, 'sort after 0'],
])

describePages('where numbers are not in the order of creation', { byStatus: million, isInOrder: false }, [
  ['acme', 'createdAtUtc', 10_000, 0, 'walk orders_by_id after 0'],
  ['acme', 'createdAtUtc', 1_000, 0, 'sort after 0'],
  ['total>=5 total<6', 'createdAtUtc', 10_000, 0, 'walk orders_by_id after 0'],
  ['', 'createdAtUtc', 1_000_000, 0, 'walk orders_by_id after 0'],
])
