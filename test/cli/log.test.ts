import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { cpSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { after, before, describe, it, type TestContext } from 'node:test'
import type { LogLine } from '../../proof/line.ts'
import { verifyLog } from '../../proof/log.ts'
import {
  loadLogKeys,
  originOf,
  publishedKeys,
  signCheckpoint,
} from '../../server/audit/checkpoints/checkpoints.ts'
import { exportLog } from '../../server/audit/lines/log.ts'
import type { AppDatabase } from '../../server/db/port.ts'
import { newOrderedId } from '../../server/ids.ts'
import { openAppDatabase } from '../../server/operations.ts'
import {
  checkpointOver,
  exportOf,
  headOf,
  makeLog,
  orderEvent,
  renamed,
  seal,
  testLogKeys,
  withoutValue,
} from '../support/log.ts'
import { stamp } from '../support/orders.ts'
import { publicUrl } from '../support/service.ts'
import { keyFiles } from '../support/signing-key.ts'
import { type CommandLine, commandLine, refusal } from './command-line.ts'

const events = 5
const now = 1_795_000_000_000

interface Log extends CommandLine {
  /** Writes a file into the folder. */
  write(name: string, text: string | Buffer): void
  read(name: string): string
  lines(name?: string): LogLine[]
}

/**
 * A database with five sealed events, an order and four notes, and their export. Made once; every test gets a
 * copy.
 */
const original = commandLine({ after })
before(async () => {
  const databaseUrl = `file:${original.databaseFile}`
  const db = await openAppDatabase({ databaseUrl })
  const order = { id: newOrderedId(now), customer: 'Acme', total: 125_000 }
  await db.write('createOrder', { order, stamp: stamp(), idempotency: null })
  for (const text of ['Late.', 'Paid.\u2028', '"déjà vu"', '\u{1f600}']) {
    await db.write('addNote', { id: order.id, stamp: stamp(), text: text, idempotency: null })
  }
  await seal(db)
  await db.close()
  assert.equal((await original.run('log export log.jsonl')).status, 0)
})

function log(t: TestContext): Log {
  const cli = commandLine(t)
  cpSync(original.folder, cli.folder, { recursive: true })
  const read = (name: string) => readFileSync(join(cli.folder, name), 'utf8')
  return {
    ...cli,
    read,
    write: (name, text) => writeFileSync(join(cli.folder, name), text),
    lines: (name = 'log.jsonl') =>
      read(name)
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
  }
}

const contentOf = ({ sequence, hashes, hash, ...content }: LogLine) => content
const checkpointOf = (lines: LogLine[]) => checkpointOver(headOf(lines))
const keyOf = async (keys = testLogKeys()) =>
  (await publishedKeys(keys, originOf(publicUrl, 1))).map(({ verifierKey }) => verifierKey).join(',')
const broken = (sequence: number, reason: string) => refusal(`event ${sequence} does not fit: ${reason}`)
const wrongHash = 'its hash is not that of its content'

describe('log verify of the database', () => {
  it('accepts a whole log, and creates no missing database', async (t) => {
    const cli = log(t)
    const { root } = headOf(cli.lines())
    const { status, stdout } = await cli.run('log verify')
    assert.deepEqual(
      [status, stdout],
      [0, `The log is intact: 5 events, with the root ${root}.\nIt agrees with 1 order.\n`],
    )
    assert.deepEqual(await cli.json('log verify'), {
      size: events,
      root,
      checkpoints: 0,
      orders: 1,
      backInTime: { events: 0, first: [] },
      signedDecisions: 0,
    })
    const elsewhere = { DATABASE_URL: 'file:elsewhere.db' }
    for (const command of ['log verify', 'log export', 'log erase 1 text']) {
      const refused = refusal('DATABASE_URL: there is no database at elsewhere.db')
      assert.deepEqual(await cli.run(command, '', elsewhere), refused)
    }
    assert.equal(existsSync(join(cli.folder, 'elsewhere.db')), false)
  })

  it('names the event that does not fit its hash', async (t) => {
    const cli = log(t)
    cli.exec('update events set by_id = 99 where sequence = 3')
    assert.deepEqual(await cli.run('log verify'), broken(3, wrongHash))
  })

  describe('notices in each column', () => {
    const cli = commandLine({ after })
    let db: AppDatabase
    before(async () => {
      cpSync(original.folder, cli.folder, { recursive: true })
      cli.exec('create table kept as select * from events')
      db = await openAppDatabase({ databaseUrl: `file:${cli.databaseFile}` })
    })
    after(() => db.close())
    const noJson = 'it is not JSON in UTF-8'
    const missing = 'the line in its place has the sequence 4: one is missing or out of place'
    const changes: Record<string, [change: string, reason: string]> = {
      'another account': ['by_id = 9', wrongHash],
      'another kind': ["kind = 'approved'", wrongHash],
      'another order': ["subject_id = 'x'", wrongHash],
      'another version': ['version = null', wrongHash],
      'another instant': ['at = at + 1', wrongHash],
      'an instant that is none': ['at = 9e15', noJson],
      'another total': ["data = replace(data, '12.5', '12')", wrongHash],
      'data that is no JSON': ["data = '{'", noJson],
      'another hash': [`hash = '${'0'.repeat(64)}'`, wrongHash],
      'another name': [
        'clear = replace(clear, \'"value":"\', \'"value":"x\')',
        'its clear.by does not match its hash',
      ],
      'another hash of a name': ["hashes = replace(hashes, 'a', 'b')", wrongHash],
      'a row that is missing': ['sequence = 9', missing],
    }
    for (const [what, [change, reason]] of Object.entries(changes)) {
      it(what, async () => {
        cli.exec(`update events set ${change} where sequence = 3`)
        const { fault } = await verifyLog(Readable.from(exportLog(db, 0, 'test'), { objectMode: false }), [])
        cli.exec('delete from events; insert into events select * from kept')
        assert.deepEqual(fault, { sequence: 3, reason })
      })
    }
  })

  it('exports what comes after missing events, however many are missing', async (t) => {
    const cli = log(t)
    cli.exec(
      'update events set sequence = sequence + 1000 where sequence > 3; update log_head set size = 1005',
    )
    assert.equal((await cli.run('log export gap.jsonl')).status, 0)
    const sequences = cli.lines('gap.jsonl').map(({ sequence }) => sequence)
    assert.deepEqual(sequences, [1, 2, 3, 1_004, 1_005])
  })

  it('names a text that was removed, unless the end is missing, too', async (t) => {
    const cli = log(t)
    const lost = 'its text is gone, and no later event says that it was erased'
    cli.exec(
      'update events set clear = json_set(clear, \'$.text\', json(\'{"salt":null,"value":null}\')) where sequence = 3',
    )
    assert.deepEqual(await cli.run('log verify'), broken(3, lost))
    const cut = 'the end is missing: the database (log_head) covers 5 events, but the log has 4'
    cli.exec('delete from events where sequence = 5')
    assert.deepEqual(await cli.run('log verify'), refusal(cut))
  })

  it('notices a missing end from the head in the database, or from a kept checkpoint alone', async (t) => {
    const cli = log(t)
    const lines = cli.lines()
    const three = headOf(lines.slice(0, 3))
    cli.write('kept.txt', await checkpointOf(lines))
    cli.exec('delete from events where sequence > 3')
    const cut = (by: string) => refusal(`the end is missing: ${by} covers 5 events, but the log has 3`)
    assert.deepEqual(await cli.run('log verify'), cut('the database (log_head)'))
    cli.change('update log_head set size = 3, root = ?', three.root)
    assert.equal((await cli.run('log verify')).status, 0)
    assert.deepEqual(
      await cli.run(`log verify --checkpoint kept.txt --log-key ${await keyOf()}`),
      cut('kept.txt'),
    )
    cli.exec('delete from log_head')
    assert.deepEqual(await cli.run('log verify'), refusal('the head of the log is missing (log_head)'))
  })
})

describe('log verify of an export, offline', () => {
  /** Without any database. */
  const offline = (cli: Log, options: string) => cli.run(`log verify --export log.jsonl ${options}`, '', {})
  const withKey = async (cli: Log, options: string) => offline(cli, `${options} --log-key ${await keyOf()}`)

  it('agrees with every checkpoint, in every form in which people store one', async (t) => {
    const cli = log(t)
    const lines = cli.lines()
    const checkpoints = await Promise.all(lines.map((_, index) => checkpointOf(lines.slice(0, index + 1))))
    const [first = '', second = '', ...others] = checkpoints
    cli.write('first.txt', first)
    cli.write('second.txt', second)
    const logged = others.map((checkpoint) => JSON.stringify({ level: 30, event: 'checkpoint', checkpoint }))
    cli.write('service.log', `${logged.join('\n\n')}\n`)
    const given = '--checkpoint first.txt --checkpoint second.txt --checkpoint service.log'
    const { root } = headOf(lines)
    const stdout = `The log is intact: 5 events, with the root ${root}.\nIt agrees with all 5 checkpoints.\n`
    assert.deepEqual(await offline(cli, `${given} --log-key ${await keyOf()}`), {
      status: 0,
      stdout,
      stderr: '',
    })
    const { status, stderr } = await offline(cli, given)
    assert.equal(status, 1)
    assert.match(stderr, /^countersign: first\.txt is not checked yet: nobody vouches for the checkpoint: /)
    const { stdout: json } = await withKey(cli, `${given} --json`)
    assert.deepEqual(JSON.parse(json), {
      size: 5,
      root,
      checkpoints: 5,
      orders: null,
      backInTime: { events: 0, first: [] },
      signedDecisions: 0,
    })
  })

  it('accepts several keys, and refuses a checkpoint that none of them signed', async (t) => {
    const cli = log(t)
    const [older, newer] = [testLogKeys(), loadLogKeys([])]
    const head = headOf(cli.lines())
    cli.write('june.txt', await checkpointOver(head, older))
    cli.write('july.txt', await checkpointOver(head, newer))
    cli.write('both.txt', await checkpointOver(head, [...older, ...newer]))
    const given = '--checkpoint june.txt --checkpoint july.txt --checkpoint both.txt'
    const refused =
      'july.txt is not checked yet: none of the keys given for orders.example.com/log signed the checkpoint: if its key was replaced, add the former one'
    assert.deepEqual(await offline(cli, `${given} --log-key ${await keyOf(older)}`), refusal(refused))
    const keys = await keyOf([...older, ...newer])
    const { stdout } = await offline(cli, `${given} --log-key ${keys} --json`)
    assert.partialDeepStrictEqual(JSON.parse(stdout), { checkpoints: 3 })
  })

  it('names events dated before their predecessor', async (t) => {
    const cli = log(t)
    const contents = cli.lines().map(contentOf)
    const early = contents.map((content, index) => ({
      ...content,
      atUtc: `2026-11-22T12:0${index === 2 ? 0 : 2}:00.000Z`,
    }))
    const verified = async (lines: LogLine[]) => {
      cli.write('log.jsonl', exportOf(lines))
      cli.write('kept.txt', await checkpointOf(lines))
      return withKey(cli, '--checkpoint kept.txt')
    }
    const { status, stdout } = await verified(makeLog(early))
    assert.equal(status, 0)
    assert.match(stdout, /\nThe clock went back by more than a minute at event 3\.\n$/)
    const many = Array.from({ length: 24 }, (_, index) => early[index % 2 === 0 ? 1 : 2] ?? orderEvent)
    assert.match((await verified(makeLog(many))).stdout, / at event 2, 4, .*, 20 and 2 more\.\n$/)
  })

  it('notices a history that was rewritten with access to database and key', async (t) => {
    const cli = log(t)
    const lines = cli.lines()
    cli.write('first.txt', await checkpointOf(lines.slice(0, 1)))
    cli.write('kept.txt', await checkpointOf(lines.slice(0, 3)))
    cli.write('last.txt', await checkpointOf(lines.slice(0, 2)))
    const contents = lines.map(contentOf)
    const rewritten = makeLog(
      contents.map((content, index) => (index === 1 ? renamed(content, { by: 'eve' }) : content)),
    )
    cli.write('log.jsonl', exportOf(rewritten))
    assert.deepEqual(
      await withKey(cli, '--checkpoint first.txt --checkpoint kept.txt'),
      refusal('kept.txt disagrees: one of the events 2 to 3 was rewritten'),
    )
    assert.deepEqual(
      await withKey(cli, '--checkpoint first.txt --checkpoint kept.txt --checkpoint last.txt'),
      refusal('last.txt disagrees: event 2 was rewritten'),
    )
  })

  it('is not checked past the newest checkpoint', async (t) => {
    const cli = log(t)
    cli.write('kept.txt', await checkpointOf(cli.lines().slice(0, 3)))
    const newer =
      'events 4 to 5 are newer than every checkpoint: give a newer one, or check the first 3 lines alone'
    assert.deepEqual(await withKey(cli, '--checkpoint kept.txt'), refusal(newer))
  })

  it('is refused without a checkpoint, because nothing else binds the lines to each other', async (t) => {
    const cli = log(t)
    const reason = 'without a checkpoint, no change of an export would show: give --checkpoint FILE'
    assert.deepEqual(await offline(cli, ''), refusal(reason))
  })

  it('names the line with a changed byte, and a line that is cut in two', async (t) => {
    const cli = log(t)
    const whole = cli.read('log.jsonl')
    cli.write('kept.txt', await checkpointOf(cli.lines()))
    const check = () => withKey(cli, '--checkpoint kept.txt')
    cli.write('log.jsonl', whole.replace('"sequence":4', '"sequence":5'))
    const outOfPlace = 'the line in its place has the sequence 5: one is missing or out of place'
    assert.deepEqual(await check(), broken(4, outOfPlace))
    cli.write('log.jsonl', whole.slice(0, -10))
    assert.deepEqual(await check(), broken(5, 'it is not JSON in UTF-8'))
    cli.write('log.jsonl', whole.slice(0, -1))
    assert.deepEqual(
      await check(),
      broken(5, 'it is not written as an export writes it, down to the line feed at its end'),
    )
  })

  it('refuses a checkpoint of another log, an altered one, and a file without one', async (t) => {
    const cli = log(t)
    const kept = await checkpointOf(cli.lines())
    cli.write('kept.txt', kept)
    cli.write('altered.txt', kept.replace('\n5\n', '\n4\n'))
    cli.write('none.txt', 'x.y.z')
    cli.write('empty.txt', '\n')
    const [other] = await publishedKeys(testLogKeys(), 'other.example/log')
    const told = async (options: string) => (await offline(cli, options)).stderr
    for (const [options, reason] of [
      [
        `--checkpoint kept.txt --log-key ${other?.verifierKey}`,
        /^countersign: kept.txt is not checked yet: nobody vouches/,
      ],
      [
        `--checkpoint altered.txt --log-key ${await keyOf()}`,
        /altered.txt is not valid: the signature of \S+ on the checkpoint is false\n$/,
      ],
      ['--checkpoint none.txt', /^countersign: none.txt is not a checkpoint: a note must/],
      ['--checkpoint log.jsonl', /^countersign: log.jsonl:1 is not a checkpoint: /],
      ['--checkpoint empty.txt', /^countersign: empty.txt has no checkpoint\n$/],
      ['--checkpoint kept.txt --log-key x+1+z', /^countersign: --log-key x\+1\+z: the key must be base64/],
      ['--checkpoint missing.txt', /^countersign: missing.txt: no such file or directory/],
    ] as const) {
      assert.match(await told(options), reason)
    }
    const key = await keyOf()
    const command = `log verify --export missing.jsonl --checkpoint kept.txt --log-key ${key}`
    const missing = await cli.run(command, '', {})
    assert.deepEqual(missing, refusal('missing.jsonl: no such file or directory'))
  })
})

describe('log verify after a restore', () => {
  it('excuses a checkpoint that the restore has lost, but needs another one', async (t) => {
    const cli = log(t)
    assert.equal((await cli.run('backup backup.db')).status, 0)
    assert.equal((await cli.run('client add billing')).status, 0)
    assert.equal((await cli.run('log export lost.jsonl')).status, 0)
    cli.write('lost.txt', await checkpointOf(cli.lines('lost.jsonl')))
    assert.equal((await cli.run('restore backup.db')).status, 0)
    assert.equal((await cli.run('log export after.jsonl')).status, 0)
    const [head, second] = [headOf(cli.lines('after.jsonl')), originOf(publicUrl, 2)]
    const { root } = head
    cli.write('left.txt', await signCheckpoint(testLogKeys(), second, head))
    const [later] = await publishedKeys(testLogKeys(), second)
    const keys = `${await keyOf()},${later?.verifierKey}`
    const offline = (options: string) =>
      cli.run(`log verify --export after.jsonl --log-key ${keys} ${options}`, '', {})
    const { status, stdout } = await offline('--checkpoint lost.txt --checkpoint left.txt')
    const said = [
      `The log is intact: 6 events, with the root ${root}.`,
      'It agrees with the checkpoint.',
      'lost.txt covers 6 events; the restore in line 6 lost the last ones.',
      '',
    ]
    assert.deepEqual([status, stdout], [0, said.join('\n')])
    const { stdout: json } = await offline('--checkpoint lost.txt --checkpoint left.txt --json')
    const lost = [{ checkpoint: 'lost.txt', size: 6, restore: 6 }]
    assert.partialDeepStrictEqual(JSON.parse(json), { checkpoints: 2, lost })
    const reason = 'without a checkpoint, no change of an export would show: give --checkpoint FILE'
    assert.deepEqual(await offline('--checkpoint lost.txt'), refusal(reason))
    assert.equal((await cli.run(`log verify --checkpoint lost.txt --log-key ${keys}`)).status, 0)
  })
})

describe('log export', () => {
  it('writes a new file that only its owner may read, or to standard output', async (t) => {
    const cli = log(t)
    assert.equal(statSync(join(cli.folder, 'log.jsonl')).mode & 0o777, 0o600)
    const whole = cli.read('log.jsonl')
    for (const command of ['log export', 'log export -', 'log export - --json']) {
      assert.deepEqual(await cli.run(command), { status: 0, stdout: whole, stderr: '' })
    }
    const again = await cli.run('log export log.jsonl')
    assert.deepEqual(again, refusal('log.jsonl already exists; it was not changed'))
    assert.equal(cli.read('log.jsonl'), whole)
    assert.deepEqual(await cli.json('log export other.jsonl'), { file: 'other.jsonl', size: events })
  })

  it('leaves no partial file that could be mistaken for a complete one', async (t) => {
    const cli = log(t)
    cli.exec(`alter table events rename to kept;
        create view events as select * from kept where case sequence when 4 then json('{') else '' end is not null`)
    assert.equal((await cli.run('log export part.jsonl')).status, 1)
    assert.equal(existsSync(join(cli.folder, 'part.jsonl')), false)
  })

  it('includes what a command has just done', async (t) => {
    const cli = log(t)
    await cli.run('client add billing --role Viewer')
    const { stdout } = await cli.run('log export')
    assert.partialDeepStrictEqual(JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? ''), {
      sequence: events + 1,
      kind: 'client-added',
      data: { roles: ['Viewer'] },
      clear: { name: { value: 'billing' } },
    })
  })
})

describe('log checkpoint', () => {
  it('is signed with the key of the log, and covers what commands have done', async (t) => {
    const cli = log(t)
    await cli.run('client add billing')
    const env = {
      DATABASE_URL: `file:${cli.databaseFile}`,
      PUBLIC_URL: publicUrl,
      ...keyFiles(),
      ANTIFORGERY_KEY: randomBytes(32).toString('base64'),
    }
    const { status, stdout, stderr } = await cli.run('log checkpoint', '', env)
    assert.deepEqual([status, stderr], [0, ''])
    assert.match(stdout, new RegExp(`^orders.example.com/log\\n${events + 1}\\n`))
    cli.write('kept.txt', stdout)
    const verified = await cli.run(`log verify --checkpoint kept.txt --log-key ${await keyOf()}`)
    assert.deepEqual([verified.status, verified.stderr], [0, ''])
    const { stdout: json } = await cli.run('log checkpoint --json', '', env)
    assert.partialDeepStrictEqual(JSON.parse(json), { size: events + 1, checkpoint: stdout })
  })

  it('is refused if the service could not start, or if its key lasts for one run only', async (t) => {
    const cli = log(t)
    const { status, stderr } = await cli.run('log checkpoint')
    assert.equal(status, 1)
    assert.match(stderr, /LOG_KEY_FILES: required/)
    const development = await cli.run('log checkpoint --dev')
    assert.deepEqual(development, refusal('LOG_KEY_FILES is missing: its key signs checkpoints'))
  })
})

describe('log erase', () => {
  it('erases the text and its salt for good, logs that, and keeps the log whole', async (t) => {
    const cli = log(t)
    const erased = await cli.run('log erase 3 text')
    const id = cli.lines()[2]?.subject.id
    assert.deepEqual(erased, {
      status: 0,
      stdout: `Erased text of event 3 (noted, order ${id}).\n`,
      stderr: 'Backups, archives and earlier exports still have it.\n',
    })
    assert.equal((await cli.run('log verify')).status, 0)
    assert.equal((await cli.run('log export after.jsonl')).status, 0)
    const [before, after] = [cli.lines(), cli.lines('after.jsonl')]
    assert.deepEqual(after.slice(0, events), before.with(2, withoutValue(before[2] as LogLine, 'text')))
    assert.partialDeepStrictEqual(after[events], {
      kind: 'erased',
      subject: { kind: 'log', id: '3' },
      data: { erased: { text: [3] } },
    })
    assert.match(after[events]?.clear.by?.value ?? '', /^machine:./)
  })

  it('is refused for an event without a text, and for anything but a number', async (t) => {
    const cli = log(t)
    await cli.run('log erase 3 text')
    for (const sequence of [3, events + 1, 99]) {
      assert.deepEqual(
        await cli.run(`log erase ${sequence} text`),
        refusal(`event ${sequence} has no text, or it was erased`),
      )
    }
    const { stderr } = await cli.run('log erase 3 text --json')
    assert.equal(JSON.parse(stderr).error.code, 'value-not-found')
    for (const argument of ['', '0', 'x', '-1', '1e3']) {
      assert.equal((await cli.run(`log erase ${argument} text`)).status, 2)
    }
    assert.equal((await cli.json<{ size: number }>('log verify')).size, events + 1)
  })
})
