import assert from 'node:assert/strict'
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it, type TestContext } from 'node:test'
import { newOrderedId } from '../../server/ids.ts'
import { openAppDatabase } from '../../server/operations.ts'
import { stamp } from '../support/orders.ts'
import { type CommandLine, commandLine, goodPassword, refusal } from './command-line.ts'

const count = 12
const numbers = Array.from({ length: count }, (_, index) => index + 1)
/** Names that nothing else contains. */
const nameOf = (number: number) => `Quillon${number}x`
const customerOf = (number: number) => `Zephyrine${number}x`
const anyName = /quillon\d+x|zephyrine\d+x/i
/** The keeper is account 1. */
const ids = numbers.map((number) => number + 1)

/** People with orders of customers, and a backup and an export of the time before anybody was erased. */
const original = commandLine({ after })
before(async () => {
  await original.run('user add keeper@example.com --role Admin', goodPassword)
  for (const name of numbers.map(nameOf)) {
    assert.equal(
      (await original.run(`user add ${name}@example.com --user-name ${name} --role Operator --invite`))
        .status,
      0,
    )
  }
  const named = `user set-name ${nameOf(1)} ${nameOf(1)}-Full`
  for (const command of [named, `user set-name ${nameOf(2)} --none`]) {
    assert.equal((await original.run(command)).status, 0)
  }
  await makeOrders()
  await addDocument()
  assert.equal((await original.run('backup before.db')).status, 0)
})

const documentBytes = 'Zanzibar, seven chairs'
/** The order and the id of a document. */
let document: { orderId: string; id: string }

async function addDocument(): Promise<void> {
  const id = newOrderedId(1_795_000_100_000)
  const orderId = String(original.value('select min(id) from orders'))
  const insert = "insert into order_documents values (?, ?, 'a', 'text/plain', 9, 'digest', 1, 'jo', null)"
  original.change(insert, id, orderId)
  original.change('insert into document_pieces values (?, 0, ?)', id, Buffer.from(documentBytes))
  document = { orderId, id }
}

const eraseDocument = (cli: CommandLine) => cli.run(`order erase-document ${document.orderId} ${document.id}`)

/** Each person creates an order of each customer, and adds a note. */
async function makeOrders(): Promise<void> {
  const db = await openAppDatabase({ databaseUrl: `file:${original.databaseFile}` })
  try {
    for (const person of numbers) {
      const at = 1_795_000_000_000 + person * 1_000
      const by = () =>
        stamp({ by: nameOf(person), byId: person + 1, nowMilliseconds: at, eventId: newOrderedId(at) })
      for (const customer of numbers) {
        const order = { id: newOrderedId(at), customer: customerOf(customer), total: 10_000 }
        await db.write('createOrder', { order, stamp: by(), idempotency: null })
        await db.write('addNote', {
          id: order.id,
          stamp: { ...by(), isService: false },
          text: 'Seen.',
          idempotency: null,
        })
      }
    }
    while ((await db.write('sealEvents', { limit: 1_000 })) > 0);
  } finally {
    await db.close()
  }
}

function erasable(t: TestContext): CommandLine {
  const cli = commandLine(t)
  cpSync(original.folder, cli.folder, { recursive: true })
  return cli
}

/** The files of the database that have one of the names. */
function filesWithNames(
  { folder }: CommandLine,
  others: readonly string[] = ['before.db'],
  searched = anyName,
): string[] {
  const files = readdirSync(folder).filter((name) => !others.includes(name))
  return files.filter((name) => searched.test(readFileSync(join(folder, name)).toString('latin1')))
}

const people = `person erase ${ids.join(' ')}`
const customers = `customer erase ${numbers.map(customerOf).join(' ')}`
const eraseAll = async (cli: CommandLine) => {
  for (const command of [people, customers]) assert.equal((await cli.run(command)).status, 0)
}

describe('person erase and customer erase', () => {
  it('leave no name in any file of the database, and a log that verifies', async (t) => {
    const cli = erasable(t)
    assert.deepEqual(filesWithNames(cli, []), ['before.db', 'test.db'])
    cli.exec('update principals set last_signed_in_at = 1')
    const erased = await cli.run('person erase 2')
    assert.deepEqual(erased, {
      status: 0,
      stdout: `Erased user 2: person-2 from now on, in ${count} orders; the log lost ${2 * count + 3} values.\n`,
      stderr: 'Backups, archives and earlier exports still have it.\n',
    })
    await eraseAll(cli)
    assert.deepEqual(filesWithNames(cli), [])
    const said = cli.log.filter(({ command }) => command === 'customer erase')
    assert.ok(said.length > 0)
    assert.doesNotMatch(JSON.stringify(said), anyName)
    assert.equal((await cli.run('log verify')).status, 0)
    const every = count * count
    for (const [counted, rows] of [
      ['principals where last_signed_in_at is not null', 1],
      ["orders where customer glob 'customer-[0-9]*'", every],
      ["orders where created_by glob 'person-[0-9]*'", every],
      ["orders_search where orders_search match 'zephyrine'", 0],
    ] as const) {
      assert.equal(cli.value(`select count(*) from ${counted}`), rows, counted)
    }
    assert.deepEqual(cli.column('pragma integrity_check'), ['ok'])
    assert.match((await cli.run('person erase 2')).stdout, /^User 2 was erased before\.\n$/)
  })

  it('erase several in one command, each completely, up to one that is refused', async (t) => {
    const cli = erasable(t)
    assert.deepEqual(await cli.run('person erase 1'), refusal('someone must be able to manage accounts'))
    assert.deepEqual(await cli.run('person erase 999'), refusal('there is no user 999'))
    const { status } = await cli.run(`customer erase ${customerOf(1)} Nobody ${customerOf(2)}`)
    assert.equal(status, 1)
    const left = cli.column('select distinct customer from orders')
    assert.equal(left.includes(customerOf(1)), false)
    assert.equal(left.includes(customerOf(2)), true)
    for (const command of ['person erase', 'person erase x', 'customer erase']) {
      assert.equal((await cli.run(command)).status, 2, command)
    }
  })
})

describe('restore', () => {
  it('erases again what the file that it replaces had erased', async (t) => {
    const cli = erasable(t)
    await eraseAll(cli)
    assert.equal((await cli.run('log erase 1 name')).status, 0)
    assert.equal((await eraseDocument(cli)).status, 0)
    const { status, stdout } = await cli.run('restore before.db')
    assert.equal(status, 0)
    assert.match(stdout, new RegExp(`Repeated ${2 * count + 2} erasures that the backup did not know\\.`))
    assert.deepEqual(filesWithNames(cli), [])
    assert.deepEqual(filesWithNames(cli, ['before.db'], new RegExp(documentBytes)), [])
    assert.equal((await eraseDocument(cli)).status, 1)
    assert.equal((await cli.run('log verify')).status, 0)
  })

  it('erases again the only administrator of the backup, and says so', async (t) => {
    const cli = erasable(t)
    const later = 'user add later@example.com --role Admin'
    for (const [command, input] of [[later, goodPassword], ['person erase 1']] as const) {
      assert.equal((await cli.run(command, input)).status, 0)
    }
    const { status, stdout } = await cli.run('restore before.db')
    assert.equal(status, 0)
    assert.match(stdout, /Repeated 1 erasure .*\nNobody can manage accounts any more: /)
    assert.equal((await cli.run('log verify')).status, 0)
  })

  it('records nothing for an erasure of a customer that the backup has, too', async (t) => {
    const cli = erasable(t)
    assert.equal((await cli.run(`customer erase ${customerOf(1)}`)).status, 0)
    assert.equal((await cli.run('backup after.db')).status, 0)
    const { erasedAgain } = await cli.json<{ erasedAgain: number }>('restore after.db')
    const erased = "select count(*) from events where kind = 'erased'"
    const events = cli.value(erased)
    assert.deepEqual([erasedAgain, events], [0, 1])
  })

  it('goes on if the log of the file that it replaces is damaged, and says so', async (t) => {
    const cli = erasable(t)
    assert.equal((await cli.run('person erase 2')).status, 0)
    const { page, size } = cli.sql((database) => {
      database.pragma('wal_checkpoint(truncate)')
      const root = "select rootpage from sqlite_schema where name = 'events'"
      return {
        page: database.prepare(root).pluck().get(),
        size: database.pragma('page_size', { simple: true }),
      }
    })
    const bytes = readFileSync(cli.databaseFile)
    bytes.fill(0xff, (Number(page) - 1) * Number(size), Number(page) * Number(size))
    writeFileSync(cli.databaseFile, bytes)
    assert.throws(() => cli.rows('select * from events'), /malformed/)
    const { status, stdout } = await cli.run('restore before.db')
    assert.equal(status, 0)
    assert.match(stdout, /\nThe former database is damaged: which erasures it had is not known\.\n/)
  })
})

describe('log restored', () => {
  it('prints how to do again the erasures that a kept export has', async (t) => {
    const cli = erasable(t)
    await eraseAll(cli)
    assert.equal((await eraseDocument(cli)).status, 0)
    assert.equal((await cli.run('log erase 1 name')).status, 0)
    assert.equal((await cli.run('log export kept.jsonl')).status, 0)
    for (const end of ['-wal', '-shm']) rmSync(`${cli.databaseFile}${end}`, { force: true })
    cpSync(join(cli.folder, 'before.db'), cli.databaseFile)
    const name = "-Zed's $(x) `y`"
    cli.change('update orders set customer = ? where customer = ?', name, customerOf(1))
    const { lostErasures } = await cli.json<{ lostErasures: string[] }>('log restored --export kept.jsonl')
    const wanted = [
      ...ids.map((id) => `person erase ${id}`),
      "customer erase -- '-Zed'\\''s $(x) `y`'",
      ...numbers.slice(1).map((number) => `customer erase -- '${customerOf(number)}'`),
      'log erase 1 name',
      `order erase-document ${document.orderId} ${document.id}`,
    ]
    assert.deepEqual(lostErasures.toSorted(), wanted.toSorted())
    const { stdout } = await cli.run('log restored --export kept.jsonl')
    assert.match(stdout, /^node \S+ person erase 2 {2}# the account was added at 20\d\d-\S+Z$/m)
    assert.doesNotMatch(stdout, /quillon/i)
  })

  it('leaves alone an account or a line that has the number of an erased one since', async (t) => {
    const cli = erasable(t)
    for (const command of ['person erase 2 3', 'log erase 1 name', 'log export kept.jsonl']) {
      assert.equal((await cli.run(command)).status, 0)
    }
    const lines = readFileSync(join(cli.folder, 'kept.jsonl'), 'utf8').split('\n')
    const others = lines.map((line) => {
      const { kind, subject, sequence, hash } = JSON.parse(line || '{}')
      if (sequence === 1) return line.replace(hash, 'another')
      return kind === 'user-added' && subject.id === '2' ? line.replace(/"20\d\d-/, '"1999-') : line
    })
    writeFileSync(join(cli.folder, 'kept.jsonl'), others.join('\n'))
    for (const end of ['-wal', '-shm']) rmSync(`${cli.databaseFile}${end}`, { force: true })
    cpSync(join(cli.folder, 'before.db'), cli.databaseFile)
    const { lostErasures } = await cli.json<{ lostErasures: string[] }>('log restored --export kept.jsonl')
    assert.deepEqual(lostErasures, ['person erase 3'])
  })

  it('begins no era if the export cannot be read to its end', async (t) => {
    const cli = erasable(t)
    const era = () => cli.value('select era from log_head')
    const subject = { kind: 'log', id: 'person-2' }
    const wrong = [
      '{"kind":',
      'null',
      '{}',
      JSON.stringify({ kind: 'erased', data: { erased: {} } }),
      JSON.stringify({ kind: 'erased', subject }),
      JSON.stringify({ kind: 'erased', subject, data: { erased: { by: 2 } } }),
      JSON.stringify({ kind: 'erased', subject, data: { erased: { 'by; x': [2] } } }),
      JSON.stringify({ kind: 'erased', subject, data: { erased: {}, orders: 'x' } }),
    ]
    for (const line of wrong) {
      writeFileSync(join(cli.folder, 'kept.jsonl'), `{"kind":"created"}\n${line}\n`)
      const expected = refusal('kept.jsonl:2 is not a line of an export of the log')
      assert.deepEqual(await cli.run('log restored --export kept.jsonl'), expected, line)
    }
    assert.equal((await cli.run('log restored --export none.jsonl')).status, 1)
    assert.equal(era(), 1)
  })
})
