import assert from 'node:assert/strict'
import { userInfo } from 'node:os'
import { describe, it } from 'node:test'
import { commandLine, goodPassword } from './command-line.ts'

describe('administration by the command line', { concurrency: 4 }, () => {
  it('leaves a line in the form of the log: what was done, to whom, by which account of the machine', async (t) => {
    const cli = commandLine(t)
    await cli.run('user add jo@example.com --role Viewer', goodPassword)
    await cli.run('user grant jo Operator --json')
    await cli.run('client add billing --role Viewer')
    const by = userInfo().username
    const line = { level: 30, event: 'administration', by, msg: 'carried out' }
    assert.deepEqual(
      cli.log.map(({ time, ...rest }) => rest),
      [
        { ...line, command: 'user add', arguments: ['jo@example.com'], options: { role: ['Viewer'] } },
        { ...line, command: 'user grant', arguments: ['jo', 'Operator'], options: {} },
        { ...line, command: 'client add', arguments: ['billing'], options: { role: ['Viewer'] } },
      ],
    )
    for (const { time } of cli.log) assert.ok(Math.abs(Date.parse(String(time)) - Date.now()) < 60_000)
  })

  it('holds no password and no secret', async (t) => {
    const cli = commandLine(t)
    await cli.run('user add jo@example.com', goodPassword)
    await cli.run('user set-password jo', `${goodPassword} too`)
    const { stdout } = await cli.run('client add billing')
    const [secret = ''] = /[\w-]{43}/.exec(stdout) ?? []
    assert.notEqual(secret, '')
    assert.equal(cli.log.length, 3)
    assert.ok(![goodPassword, secret].some((text) => JSON.stringify(cli.log).includes(text)))
  })

  it('leaves none when it was refused, or only looked', async (t) => {
    const cli = commandLine(t)
    await cli.run('user disable nobody@example.com')
    for (const command of ['user list', 'client list', 'role list', 'key generate']) await cli.run(command)
    assert.deepEqual(cli.log, [])
  })
})
