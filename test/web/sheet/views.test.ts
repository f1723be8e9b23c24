import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it, mock } from 'node:test'
import { answerWith, problemWith, serviceIs, settled } from '../../support/page.ts'
import { drawn, drawnAgain, focused, handler, jsx, press } from '../drawing.ts'

const { queries } = await import('../../../web/src/api/queries.ts')
const { loadSession } = await import('../../../web/src/auth/session.ts')
const { recentQuery } = await import('../../../web/src/orders/sheet/queries.ts')
const { changeSheet, openSheet, results, sheet } = await import('../../../web/src/orders/sheet/sending.ts')
const { SheetView } = await import('../../../web/src/orders/sheet/sheet.tsx')
const { silence, toasts } = await import('../../../web/src/ui/announce.ts')

const buttons = '[Choose a CSV file] | [Clear]'
const field = '(Create orders) | [Choose a CSV file]'
const head = 'The rows of the sheet | Row | Customer | Total'
const headings =
  'The first row is read as headings: customer is “customer”, total is “total”, note is “note”.'
const samples = '1: a, d | 2: b, e | 3: c, f'
const noTotal = 'Enter only the number, without a currency or other words.'
const again =
  'You can send the same sheet again within 24 hours: no order is created twice. A changed sheet counts as a new one.'
const going = 'You can keep working in the meantime. If you reload the page, press “Go on”.'
const denied = 'You cannot create orders | Your administrator can give you a role that can.'

/** Unlike that of a file, its content does not come from another thread. */
const fileOf = (text: string, size = text.length) => {
  const arrayBuffer = async () => new TextEncoder().encode(text).buffer
  return { size, arrayBuffer } as File
}

describe('the view of a sheet', () => {
  let permissions: string[] = []
  let answer: (customer: string) => Response | Promise<Response>
  serviceIs(async (path, request) => {
    if (path === '/v1/auth/me') return answerWith(200, { id: 1, userName: 'mara', roles: [] })
    const isOfLastDay = new URL(request.url).searchParams
      .get('filter')
      ?.startsWith('createdAtUtc >= "2026-11-01')
    const items = isOfLastDay ? [{ customer: 'Eve', total: 9 }] : []
    if (request.method !== 'POST') return answerWith(200, { permissions, token: 't', items })
    return answer((await request.json()).customer)
  })
  let digest: { mock: { restore(): void } }
  beforeEach(async () => {
    digest = mock.method(crypto.subtle, 'digest', async () => new ArrayBuffer(32))
    permissions = ['Orders.Create', 'Orders.Read']
    await loadSession()
    openSheet(1)
    changeSheet('')
    silence()
    answer = () => answerWith(201, { id: '7' })
  })
  afterEach(() => {
    digest.mock.restore()
    silence()
    queries.clear()
  })
  const given = { preventDefault: () => undefined, currentTarget: {} }
  /** Without the field and its hint. */
  function joined(lines: string[]): string {
    return lines
      .slice(lines.findLastIndex((line) => /At most 1,000 rows|^New orders/.test(line)) + 1)
      .join(' | ')
  }
  const show = (text: string) => {
    changeSheet(text)
    return joined(drawn(jsx(SheetView, {})))
  }
  const [all, above] = [() => joined(drawnAgain()), () => all().split(' | Orders of the sheet')[0]]
  const send = async () => {
    handler('onSubmit')(given)
    await settled()
    return above()
  }

  for (const [text, lines] of [
    ['', field],
    [
      'Acme\t7\nBolt\tx\nAcme\t7\nTotal\t14',
      `3 orders can be created. 1 row cannot: 2. | Skip 1 row that looks like a sum of others: 4 | Skip 1 duplicate | 2 orders, 14.00 in total. | [Create 2 orders] | ${buttons} | Orders of the sheet | Show only the 2 rows to check | ${head} | 1 | Acme | 7.00 | 2 | Bolt | x | ${noTotal} | 3 | Acme | The same as row 1. | 7.00 | 4 | Total | 14.00`,
    ],
    [
      'Acme\t7\nTotal\t7\nAcme\t7\nAcme\t7\nSum\t8',
      `5 orders can be created. | Skip 2 rows that look like a sum of others: 2 and 5 | Skip 2 duplicates | 3 orders, 21.00 in total. | [Create 3 orders] | ${buttons} | Orders of the sheet | Show only the 2 rows to check | ${head} | 1 | Acme | 7.00 | 2 | Total | 7.00 | 3 | Acme | The same as row 1. | 7.00 | 4 | Acme | The same as row 1. | 7.00 | 5 | Sum | 8.00`,
    ],
    [
      'Acme\t1.234\nTotal\t1.234\nAcme\t1.234',
      `“1.234” means | “1.234” means | 1,234.00 | 1.234 | Choose one before you create the orders. | (Create orders) | ${buttons}`,
    ],
    [
      'a\tb\tc\nd\te\tf',
      `Rows | a\tb\tc | d\te\tf | It is not clear which columns to use. Choose them below. | Which column holds what? | Customer | Choose … | ${samples} | Total | Choose … | ${samples} | Note (optional) | None | ${samples} | (Create orders) | ${buttons}`,
    ],
    [
      'customer\ttotal\tnote\nEve\t9\tsoon\n\tnix\t\nEve\t9\ta\tb',
      `1 order can be created. 2 rows cannot: 3 and 4. | ${headings} | Skip 1 duplicate | 1 order, 9.00 in total. | [Create 1 order] | ${buttons} | Orders of the sheet | Show only the 3 rows to check | ${head} | 2 | Eve | soon | An order like this was created in the last 24 hours. | 9.00 | 3 | Enter the name of the customer. | nix | Enter only the number, without “nix”. | 4 | Eve | a | This row has too many columns. A comma inside a name or a total needs quotation marks around the cell. | 9.00`,
    ],
    [
      `customer\ttotal\tnote\nCoil\t1.5\t${'x'.repeat(1_001)}`,
      `0 orders can be created. 1 row cannot: 2. | ${headings} | (Create orders) | ${buttons} | Orders of the sheet | Show only the 1 row to check | ${head} | 2 | Coil | ${'x'.repeat(1_001)} | Write at most 1,000 characters. | 1.50`,
    ],
  ] as const) {
    it(`shows ${text.slice(0, 80)}`, async (t) => {
      t.mock.method(Date, 'now', () => Date.UTC(2026, 10, 2))
      await queries.fetchQuery(recentQuery)
      assert.equal(show(text), lines)
    })
  }

  it('shows how far it is, and what became of each row', async () => {
    show('Acme\t7\nBolt\t8\nCoil\t9\nCoil\t9')
    const held = Promise.withResolvers<Response>()
    answer = (customer) => (customer === 'Acme' ? held.promise : problemWith(422, 'order-limit'))
    handler('onTurn', 'Skip 1 duplicate')(true)
    drawnAgain()
    assert.equal(await send(), `Creating orders … | 0 of 3 rows sent. | ${going} | [Stop]`)
    assert.equal(focused, 'Creating orders …')
    press('Stop')
    assert.equal(above(), `Creating orders … | 0 of 3 rows sent. | ${going} | (Stop)`)
    held.resolve(answerWith(201, { id: '7' }))
    await settled()
    const halted = `Not all rows are sent | 1 of 3 orders was created. | ${again} | [Go on] | [Another sheet]`
    assert.equal(above(), halted)
    press('Go on')
    await settled()
    const text = '1 order created. 2 rows were not created.'
    const over = `[Save the 2 rows that failed] | [Correct them here] | [Show the orders] | [Another sheet]`
    const rows = 'Acme | Created | 7.00 | 2 | Bolt | order-limit. order-limit | 8.00'
    const others = '3 | Coil | order-limit. order-limit | 9.00 | 4 | Coil | Left out | 9.00'
    const check = 'Orders of the sheet | Show only the 2 rows to check'
    assert.equal(
      all(),
      `Finished | ${text} | ${again} | ${over} | ${check} | ${head} | 1 | ${rows} | ${others}`,
    )
    assert.deepEqual(toasts.get().at(-1)?.text, text)
    handler('onTurn', 'Show only the 2 rows to check')(true)
    assert.match(all(), /Total \| 2 \| Bolt .* 3 \| Coil \| order-limit. order-limit \| 9.00$/)
    press('Correct them here')
    await settled()
    assert.match(all(), /^2 orders can be created\./)
    assert.equal(focused, 'sheet')
  })

  it('shows all rows again once none is to be checked', async () => {
    show('Acme\t7\nAcme\t7')
    handler('onTurn', 'Show only the 1 row to check')(true)
    assert.doesNotMatch(all(), /1 \| Acme/)
    handler('onTurn', 'Skip 1 duplicate')(true)
    all()
    await send()
    assert.match(all(), /^Finished .* 1 \| Acme \| Created \| 7\.00 \| 2 \| Acme \| Left out/)
  })

  it('warns of a row in doubt when its day is over while the page is open', async (t) => {
    const began = Date.now()
    t.mock.timers.enable({ apis: ['Date', 'setInterval'], now: began })
    answer = () => problemWith(403, 'permission-denied')
    show('Acme\t7')
    assert.doesNotMatch((await send()) ?? '', /before you go on/)
    t.mock.timers.tick(24 * 3_600_000)
    assert.match(above() ?? '', /whether the order of row 1 exists before you go on\./)
  })

  it('shows what keeps it from being sent', async () => {
    answer = () => problemWith(503, 'draining')
    show('Acme\t7')
    const waiting = 'The service is unavailable right now | Trying again automatically.'
    assert.equal(await send(), `Creating orders … | 0 of 1 row sent. | ${waiting} | ${going} | [Stop]`)
    press('Stop')
    await settled()
    const end = `${again} | [Go on] | [Another sheet]`
    const ended = 'Not all rows are sent | 0 of 1 order were created.'
    assert.equal(above(), `${ended} | The service is unavailable right now | Try again in a moment. | ${end}`)
    answer = () => problemWith(403, 'permission-denied')
    press('Go on')
    await settled()
    assert.equal(above(), `${ended} | permission-denied | permission-denied | ${end}`)
    sheet.set({ ...sheet.get(), sent: { name: 'n', at: 0, rows: [1] } })
    assert.match(above() ?? '', /whether the order of row 1 exists before you go on\./)
    results.set({ 1: { kind: 'failed', why: 'So.' } })
    assert.match(above() ?? '', /\[Save the row that failed\]/)
  })

  it('takes rows that are pasted, dropped or chosen, unless there are too many', async () => {
    show('')
    handler('onSubmit')(given)
    assert.deepEqual([drawnAgain().includes('Paste rows, or choose a file.'), focused], [true, 'sheet'])
    let taken = 0
    const preventDefault = () => {
      taken += 1
    }
    const paste = (length: number) =>
      handler('onPaste')({ preventDefault, clipboardData: { getData: () => 'x'.repeat(length) } })
    const drop = (...files: File[]) => handler('onDrop')({ preventDefault, dataTransfer: { files } })
    paste(1_000_000)
    drop()
    assert.equal(taken, 0)
    paste(1_000_001)
    assert.match(drawnAgain().join(), /The sheet is larger than 1 MB/)
    drop(fileOf('Acme\t7', 1_000_000))
    await settled()
    assert.deepEqual([taken, sheet.get().text, focused], [2, 'Acme\t7', 'sheet'])
    assert.doesNotMatch(drawnAgain().join(), /The sheet is larger than 1 MB/)
    handler('onSelect')([fileOf('', 1_000_001)])
    assert.match(drawnAgain().join(), /The sheet is larger than 1 MB/)
    handler('onSelect')(undefined)
    handler('onSelect')([fileOf('Acme\t8')])
    await settled()
    drawnAgain()
    assert.equal(sheet.get().text, 'Acme\t8')
    press('Clear')
    assert.deepEqual([sheet.get().text, focused], ['', 'sheet'])
    handler('onDragOver')({ preventDefault })
    assert.equal(taken, 3)
  })

  it('asks which column and which number is meant', async () => {
    show('a\tb\tc\nd\te\tf')
    handler('onChange')({ target: { value: '2' } })
    drawnAgain()
    handler('onChange')({ target: { value: '' } })
    assert.deepEqual(sheet.get().columns, { note: undefined })
    sheet.set({ text: 'a\tb\t7\nd\te\t8', columns: { customer: 1, total: 2 } })
    assert.match(all(), /^2 orders can be created\./)
    show('Acme\t1.234')
    await send()
    assert.equal(sheet.get().sent, undefined)
    handler('onChoose')('.')
    assert.match(all(), /^1 order can be created\. \| .* 1\.234 \| 1 order, 1\.234 in total\./)
  })

  it('says that it could not be compared, or that the person may create no orders', async () => {
    const query = queries.getQueryCache().build(queries, queries.defaultQueryOptions(recentQuery) as never)
    query.setState({ data: [], status: 'error' } as never)
    assert.match(show('Acme\t7'), /These rows could not be compared with the orders of the last 24 hours\./)
    permissions = []
    await loadSession()
    assert.equal(show(''), denied)
  })
})
