import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import '../../support/page.ts'

const { readSheet, rowLimit, sizeLimit, textOf } = await import('../../../web/src/orders/sheet/reading.ts')

function read(text: string) {
  const reading = readSheet(text)
  assert.ok(reading.ok, 'fault' in reading ? reading.fault : '')
  return reading
}

/** Each row as `number customer total`. */
const rowsOf = (text: string) =>
  read(text).rows.map(({ number, customer, total }) => [number, customer, total].join(' | '))

function faultOf(text: string): string {
  const reading = readSheet(text)
  assert.ok(!reading.ok)
  return reading.fault
}

describe('a sheet', () => {
  it('is read from rows that were pasted, and from CSV with a comma or a semicolon', () => {
    const rows = ['1 | Acme, Inc. | 1,250.50', '2 | Bolt; Sons | 7']
    assert.deepEqual(rowsOf('Acme, Inc.\t1,250.50\nBolt; Sons\t7'), rows)
    assert.deepEqual(rowsOf('"Acme, Inc.","1,250.50"\r\nBolt; Sons,7\r\n'), rows)
    assert.deepEqual(rowsOf('Acme, Inc.;1,250.50\r\n"Bolt; Sons";7'), rows)
    assert.deepEqual(rowsOf('Müller;1.234,50\nMeier;2,5'), ['1 | Müller | 1.234,50', '2 | Meier | 2,5'])
  })

  it('may have a byte order mark, quotes, lines within cells and empty rows', () => {
    assert.deepEqual(rowsOf('\ufeff"The ""Old"" Mill",1\r\n\r\n , \r\n"Two\nlines",2\r\n'), [
      '1 | The "Old" Mill | 1',
      '4 | Two\nlines | 2',
    ])
    assert.deepEqual(rowsOf('12" pipes\t3'), ['1 | 12" pipes | 3'])
  })

  it('has its columns where the headings say, in any order and among others', () => {
    const { rows, headings } = read('status,Amount,id, Customer \nPending,7,1,Acme\n')
    assert.deepEqual(rows, [{ number: 2, customer: 'Acme', total: '7' }])
    assert.deepEqual(headings, [' Customer ', 'Amount'])
    assert.deepEqual(rowsOf('date;client;net;total\n2026-01-02;Acme;6;7'), ['2 | Acme | 7'])
  })

  it('has its columns where they can only be, without headings that are known', () => {
    assert.deepEqual(rowsOf('1,250.50\tAcme\n7\tBolt'), ['1 | Acme | 1,250.50', '2 | Bolt | 7'])
    assert.deepEqual(rowsOf('Kunde;Betrag\nAcme;7'), ['2 | Acme | 7'])
    assert.deepEqual(rowsOf('4711\t7\n4712\t8'), ['1 | 4711 | 7', '2 | 4712 | 8'])
    assert.deepEqual(rowsOf('Company\t7\nAcme\t8'), ['1 | Company | 7', '2 | Acme | 8'])
    assert.deepEqual(rowsOf('Acme'), ['1 | Acme | '])
    assert.deepEqual(rowsOf('Firm\tWorth'), ['1 | Firm | Worth'])
    assert.deepEqual(rowsOf('7\tAcme\nx\tBolt'), ['1 | Acme | 7', '2 | Bolt | x'])
    assert.deepEqual(rowsOf('Acme\t\nBolt\t'), ['1 | Acme | ', '2 | Bolt | '])
  })

  it('is refused where the columns are not clear', () => {
    const fault = /^It is not clear which columns to use\./
    // 1234,50 without quotes.
    assert.match(faultOf('Acme,1234,50\nBolt,12,75'), fault)
    assert.match(faultOf('2026-01-02\tAcme\t7'), fault)
    assert.deepEqual(rowsOf('customer\tnote\nAcme\thello'), ['2 | Acme | hello'])
  })

  it('says which row has too many columns, or quotes that do not match', () => {
    const { rows } = read('customer,total\nAcme,1234,50\nBolt,7\n"Coil,8\n')
    assert.match(rows[0]?.fault ?? '', /^This row has too many columns\./)
    assert.equal(rows[1]?.fault, undefined)
    assert.equal(rows[2]?.fault, 'The quotation marks in this row do not match.')
    for (const text of ['Acme\t7\nBolt\t8\tsoon', 'Acme\t7\tsoon\nBolt\t8']) {
      const reading = readSheet(text, { customer: 0, total: 1 })
      assert.deepEqual(
        reading.ok && reading.rows.map(({ fault }) => fault),
        [undefined, undefined],
        'as many rows have two columns as three, so three are right',
      )
    }
  })

  it('has at most a thousand rows and a megabyte', () => {
    const rows = (count: number) => 'Acme\t7\n'.repeat(count)
    assert.equal(read(rows(rowLimit)).rows.length, 1_000)
    assert.equal(read(`customer\ttotal\n${rows(rowLimit)}`).rows.length, 1_000)
    assert.equal(faultOf(rows(1_204)), 'The sheet has 1,204 rows. Send at most 1,000 at a time.')
    assert.match(faultOf(rows(rowLimit + 1)), /^The sheet has 1,001 rows\./)
    assert.match(faultOf('a\tb\tc\n'.repeat(rowLimit + 2)), /^The sheet has 1,002 rows\./)
    assert.equal(faultOf('x'.repeat(sizeLimit + 1)), 'The sheet is larger than 1 MB. Send it in parts.')
  })

  it('takes any text as a name, also what other programs would run or misread', () => {
    const texts = ['=HYPERLINK("http://x")', '__proto__', 'constructor', '<b>x</b>', '\ud800']
    assert.deepEqual(
      texts.map((text) => read(`${text}\t7\nBolt\t8`).rows[0]?.customer),
      texts,
    )
    const { rows } = read('__proto__,customer,total\n1,Acme,7')
    assert.deepEqual(rows, [{ number: 2, customer: 'Acme', total: '7' }])
  })

  it('is the same after an export, whose apostrophes keep names from being formulas', () => {
    assert.deepEqual(rowsOf("customer,total\n'=1+1,7\n'Tis,8"), ['2 | =1+1 | 7', "3 | 'Tis | 8"])
  })
})

describe('a file', () => {
  it('is read as UTF-8, as UTF-16 with its mark, or as older spreadsheets write', async () => {
    const text = 'Müller;7'
    const wide = Uint8Array.from([
      0xff,
      0xfe,
      ...new Uint8Array(Uint16Array.from(text, (_, at) => text.charCodeAt(at)).buffer),
    ])
    assert.equal(await textOf(new Blob([text])), text)
    assert.equal(await textOf(new Blob(['\ufeff', text])), text)
    assert.equal(await textOf(new Blob([wide])), text)
    assert.equal(await textOf(new Blob([Uint8Array.of(0xff, 0x41)])), 'ÿA')
    assert.equal(await textOf(new Blob([Uint8Array.of(0x41, 0xfe)])), 'Aþ')
    assert.equal(await textOf(new Blob([Uint8Array.from(text, (_, at) => text.charCodeAt(at))])), text)
  })
})
