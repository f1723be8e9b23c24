import assert from 'node:assert/strict'
import { userInfo } from 'node:os'
import { describe, it } from 'node:test'
import { commands } from '../../server/cli/catalogue/catalogue.ts'
import { commandLine, goodPassword } from './command-line.ts'

describe('administration by the command line', () => {
  it('leaves a log line: what was done, to whom, by which account of the machine, and no secret', async (t) => {
    const cli = commandLine(t)
    await cli.run('user add jo@example.com --role Viewer --name Jo', goodPassword)
    await cli.run('user grant jo Operator --json')
    await cli.run('user set-password jo', `${goodPassword} too`)
    await cli.run('user disable --email jo@example.com')
    await cli.run('client add billing --role Viewer')
    await cli.run('client rotate-secret billing --now --json')
    await cli.run('user sign-out --all')
    const by = userInfo().username
    const line = { level: 30, event: 'administration', by, msg: 'carried out' }
    assert.deepEqual(
      cli.log.map(({ time, ...rest }) => rest),
      [
        { ...line, command: 'user add', arguments: ['***'], options: { role: ['Viewer'], name: '***' } },
        { ...line, command: 'user grant', arguments: ['jo', 'Operator'], options: {} },
        { ...line, command: 'user set-password', arguments: ['jo'], options: {} },
        { ...line, command: 'user disable', arguments: [], options: { email: '***' } },
        { ...line, command: 'client add', arguments: ['billing'], options: { role: ['Viewer'] } },
        { ...line, command: 'client rotate-secret', arguments: ['billing'], options: { now: true } },
        { ...line, command: 'user sign-out', arguments: [], options: { all: true } },
      ],
    )
    for (const { time } of cli.log) assert.ok(Math.abs(Date.parse(String(time)) - Date.now()) < 60_000)
  })

  it('leaves no line if it was refused or only read something', async (t) => {
    const cli = commandLine(t)
    const looks = [...commands].filter(([, { changesNothing }]) => changesNothing).map(([name]) => name)
    const lists = ['absence list', 'client list', 'policy list', 'role list', 'user list', 'user passkeys']
    const logs = ['log checkpoint', 'log export', 'log verify']
    const others = ['key generate', 'oidc check', 'serve', 'version']
    assert.deepEqual(looks.toSorted(), [...lists, ...logs, ...others].toSorted())
    await cli.run('user disable nobody@example.com')
    for (const command of ['user list', 'key generate --antiforgery']) await cli.run(command)
    assert.deepEqual(cli.log, [])
  })
})
