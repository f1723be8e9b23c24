import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { userInfo } from 'node:os'
import { describe, it } from 'node:test'
import { commandLine, refusal } from './command-line.ts'

const first = { from: 0, approvals: 1, selfApproval: true, services: true, role: null, passkey: false }
const second = {
  from: 10_000.5,
  approvals: 2,
  selfApproval: false,
  services: false,
  role: null,
  passkey: false,
}

describe('policy list and set', () => {
  it('shows the policy as a table, and how to change it', async (t) => {
    const cli = commandLine(t)
    await cli.run('migrate')
    assert.deepEqual(await cli.run('policy list'), {
      status: 0,
      stdout: 'FROM  APPROVALS  SELF  SERVICES  ROLE  PASSKEY\n0     1          yes   yes       -     no\n',
      stderr: 'To change it, start from: policy set 0=1,self,services,no-role,no-passkey\n',
    })
    assert.deepEqual(await cli.json('policy list'), { version: 1, rows: [first] })
    assert.deepEqual(
      cli.log.map(({ command }) => command),
      ['migrate'],
    )
  })

  it('replaces all rows, and the list then prints them as given', async (t) => {
    const cli = commandLine(t)
    const words =
      'policy set 0=1,self,services,no-role,no-passkey 10000.5=2,no-self,no-services,role:Admin,passkey'
    const stdout =
      'FROM     APPROVALS  SELF  SERVICES  ROLE   PASSKEY\n0        1          yes   yes       -      no\n10000.5  2          no    no        Admin  yes\n'
    const nobody = (one: string) => `No enabled ${one} may approve orders.`
    assert.deepEqual(await cli.run(words), {
      status: 0,
      stdout,
      stderr: `Warning: the row from 0: ${nobody('account')}\nWarning: the row from 10000.5: ${nobody('person with a passkey')}\n`,
    })
    const listed = await cli.run('policy list')
    assert.deepEqual(listed, { status: 0, stdout, stderr: `To change it, start from: ${words}\n` })
    assert.deepEqual(await cli.json('policy list'), {
      version: 2,
      rows: [first, { ...second, role: 'Admin', passkey: true }],
    })
    const other = await cli.json('policy set 0=3,no-services,no-role,self,no-passkey')
    const row = { from: 0, approvals: 3, selfApproval: true, services: false, role: null, passkey: false }
    const warnings = [{ from: 0, code: 'nobody', detail: nobody('person') }]
    assert.deepEqual(other, { version: 3, rows: [row], changed: true, warnings })
    for (const name of ['ann', 'bo']) await cli.run(`user add ${name}@example.com --invite --role Admin`)
    assert.equal((await cli.run('policy set 0=2,self,no-services')).stderr, '')
  })

  it('leaves an event in the name of the machine’s account, and a line in the log', async (t) => {
    const cli = commandLine(t)
    await cli.run('policy set 0=2,no-self,no-services')
    const [event, ...others] = cli.rows(
      "select kind, subject_id, version, clear ->> '$.by.value' as by, by_id, data from unsealed_events",
    )
    assert.deepEqual(others, [])
    assert.deepEqual(event, {
      kind: 'policy-set',
      subject_id: 'approval',
      version: 2,
      by: `machine:${userInfo().username}`,
      by_id: null,
      data: '{"rows":[{"approvals":2,"from":"0","passkey":false,"role":null,"selfApproval":false,"services":false}]}',
    })
    assert.deepEqual(
      cli.log.map(({ command, arguments: given }) => [command, given]),
      [['policy set', ['0=2,no-self,no-services']]],
    )
  })

  it('says so when nothing changes, and leaves no event', async (t) => {
    const cli = commandLine(t)
    const { stdout } = await cli.run('policy set 0=1,self,services')
    assert.match(stdout, /^Nothing to change:\nFROM /)
    assert.equal((await cli.json<{ changed: boolean }>('policy set 0=1,self,services')).changed, false)
    assert.equal(cli.value('select count(*) from unsealed_events'), 0)
  })

  const refused: [words: string, line: string][] = [
    ['5=1,self,services', 'row 1: from must be 0 in the first row.'],
    ['0=6,self,services', 'row 1: approvals must be at most 5.'],
    ['0=x,self,services', 'row 1: approvals must be a whole number (int32).'],
    ['0=1,self,services -1=1,self,services', 'row 2: from must be at least 0.'],
    [
      '0=1,self,services 9=1,self,services 9.0=2,self,services',
      'row 3: from must be greater than in the row before.',
    ],
    [
      '0=1,self,services 10_000=2,self,services',
      'row 2: from must be a plain decimal such as 12 or 12.50, without an exponent, a plus sign or spaces.',
    ],
    [
      Array.from({ length: 21 }, (_, from) => `${from}=1,self,services`).join(' '),
      'the policy must have 1 to 20 entries.',
    ],
  ]
  for (const [words, line] of refused) {
    it(`refuses in one line, and changes nothing: ${words.slice(0, 60)}`, async (t) => {
      const cli = commandLine(t)
      assert.deepEqual(await cli.run(`policy set -- ${words}`), refusal(line))
      assert.equal(existsSync(cli.databaseFile), false, 'before the database is opened')
    })
  }

  const unclear =
    '0=1 0=1,self 0=1,services 0=1,self,self 0:1,self,services 0=1,self,services,more 0=1,no-selfservices 0=1,self,services,role 0=1,self,services,role:Admin,no-role 0=1,self,no-self,services'
  for (const words of unclear.split(' ')) {
    it(`does not guess a missing word: ${words}`, async (t) => {
      const { status, stderr } = await commandLine(t).run(`policy set 0=1,self,services ${words}`)
      assert.equal(status, 2)
      assert.match(stderr, /^countersign: policy set: row 2 must be FROM=APPROVALS,self,services, .*\n$/)
    })
  }

  it('reads a rule that is left out as none, but not while a row has one', async (t) => {
    const cli = commandLine(t)
    const words = '0=1,self,services,role:Admin,no-passkey'
    await cli.run(`policy set ${words}`)
    const { status, stderr } = await cli.run('policy set 0=1,self,services')
    assert.deepEqual(
      [status, stderr],
      [1, 'countersign: role is required in every row, because the policy has one now\n'],
    )
    assert.match((await cli.run('policy list')).stderr, new RegExp(`policy set ${words}\n$`))
    assert.equal((await cli.run('policy set 0=1,self,services,no-role')).status, 0)
    assert.equal((await cli.run('policy set 0=2,self,services')).status, 0)
    assert.equal((await cli.run('policy set 0=2,self,services,passkey')).status, 0)
    assert.equal(
      (await cli.run('policy set 0=2,self,services')).stderr,
      'countersign: passkey is required in every row, because the policy has one now\n',
    )
    assert.equal((await cli.run('policy set 0=2,self,services,no-passkey')).status, 0)
  })

  it('names a role that does not exist', async (t) => {
    const { status, stderr } = await commandLine(t).run('policy set 0=1,self,services,role:Boss')
    assert.deepEqual([status, stderr], [1, 'countersign: there is no role Boss\n'])
  })

  it('asks for a row if none is given', async (t) => {
    const { status, stderr } = await commandLine(t).run('policy set')
    assert.equal(status, 2)
    assert.match(stderr, /a row is missing, such as 0=1,self,services/)
  })
})
