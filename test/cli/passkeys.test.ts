import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { commandLine, goodPassword } from './command-line.ts'

describe('user passkeys and user remove-passkey', () => {
  it('list the passkeys of a user, and remove one by its id', async (t) => {
    const cli = commandLine(t)
    await cli.run('user add jo@example.com --role Viewer', goodPassword)
    cli.exec(`insert into passkeys values
        ('first', 1, 'localhost', 'Phone', 'key', 0, 1, 1790000000000, null),
        ('second', 1, 'localhost', 'Key', 'key', 0, 0, 1790000001000, 1790000002000)`)
    const listed = await cli.run('user passkeys jo')
    assert.deepEqual(
      listed.stdout.split('\n').map((line) => line.split(/ {2,}/)),
      [
        ['ID', 'NAME', 'KEPT ON', 'LAST USED'],
        ['first', 'Phone', 'several devices', 'never'],
        ['second', 'Key', 'one device', '2026-09-21T14:13:22.000Z'],
        [''],
      ],
    )
    const removed = await cli.run('user remove-passkey jo@example.com first')
    assert.equal(removed.stdout, 'The passkey of jo is removed. The sign-ins that it began have ended.\n')
    const left = JSON.parse((await cli.run('user passkeys --user-name jo --json')).stdout)
    assert.deepEqual(
      left.map(({ id }: { id: string }) => id),
      ['second'],
    )
    const removal = "from unsealed_events where kind = 'passkey-removed'"
    assert.deepEqual(cli.column(`select data ${removal}`), ['{"passkey":{"id":"first"}}'])
    assert.equal(cli.value(`select clear ->> '$.name.value' ${removal}`), 'jo')
  })

  it('say what is wrong', async (t) => {
    const cli = commandLine(t)
    await cli.run('user add jo@example.com --role Viewer', goodPassword)
    assert.match((await cli.run('user passkeys nobody')).stderr, /there is no user nobody/i)
    assert.match((await cli.run('user remove-passkey jo')).stderr, /name one passkey by its id/)
    assert.match(
      (await cli.run('user remove-passkey --user-name jo a b')).stderr,
      /name one passkey by its id/,
    )
    assert.match((await cli.run('user remove-passkey jo other')).stderr, /there is no such passkey/i)
  })
})
