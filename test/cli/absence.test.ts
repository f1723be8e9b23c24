import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type CommandLine, commandLine } from './command-line.ts'

const day = 86_400_000
const inDays = (days: number) => new Date(Date.now() + days * day).toISOString()

async function withPeople(t: Parameters<typeof commandLine>[0]): Promise<CommandLine> {
  const cli = commandLine(t)
  await cli.run('user add ann@example.com --invite --role Admin')
  await cli.run('user add bo@example.com --invite --role Viewer')
  return cli
}

describe('absence set, list and end', () => {
  it('keep one absence of a user, in the name of the machine’s account', async (t) => {
    const cli = await withPeople(t)
    const [from, until] = [inDays(1), inDays(20)]
    const set = `absence set ann --deputy bo@example.com --from ${from} --until ${until}`
    assert.deepEqual(await cli.run(set), {
      status: 0,
      stdout: `bo stands in for ann until ${until}.\n`,
      stderr: '',
    })
    const same = await cli.json<{ changed: boolean }>(set.replace('ann', '--user-name ann'))
    assert.equal(same.changed, false)
    const ends = { from, until }
    assert.deepEqual(await cli.json('absence list'), [
      { id: 1, userName: 'ann', ...ends, deputyId: 2, deputy: 'bo' },
    ])
    assert.match((await cli.run('absence list')).stdout, /^USER NAME +FROM +UNTIL +DEPUTY\nann .* bo\n$/)
    assert.equal((await cli.run('absence end ann')).stdout, 'The absence of ann has ended.\n')
    assert.equal((await cli.run('absence end ann')).stdout, 'ann is not absent.\n')
    assert.deepEqual(await cli.json('absence list'), [])
    const query =
      "select kind, by_id, data, clear from unsealed_events where kind like 'absence%' order by number"
    const events = cli.rows<{ kind: string; by_id: null; data: string; clear: string }>(query)
    assert.deepEqual(
      events.map(({ kind, by_id, data, clear }) => {
        const { name, deputy } = JSON.parse(clear)
        return [kind, by_id, name.value, deputy?.value, JSON.parse(data)]
      }),
      [
        ['absence-set', null, 'ann', 'bo', { ...ends, deputyId: 2 }],
        ['absence-ended', null, 'ann', undefined, {}],
      ],
    )
  })

  const until = inDays(20)
  const refusals: [string, RegExp][] = [
    ['absence set ann --until x --deputy bo', /--until must be an instant in UTC/],
    ['absence set ann --deputy bo', /--until is missing/],
    [`absence set ann --until ${until}`, /--deputy is missing/],
    [`absence set ann --deputy bo --until ${inDays(-1)}`, /--until must be in the future/],
    [`absence set ann --deputy bo --until ${inDays(367)}`, /--until must be at most 366 days after from/],
    [`absence set ann --deputy bo --from ${until} --until ${until}`, /--until must be later than from/],
    [`absence set ann --deputy ann --until ${until}`, /cannot be your deputy/],
    [`absence set ann --deputy cy --until ${until}`, /there is no user cy/],
    [`absence set cy --deputy bo --until ${until}`, /there is no user cy/],
    ['absence end cy', /there is no user cy/],
  ]
  it('refuse an impossible absence in one line', async (t) => {
    const cli = await withPeople(t)
    for (const [command, message] of refusals) {
      const { status, stderr } = await cli.run(command)
      assert.deepEqual([status === 0, stderr.trim().split('\n').length], [false, 1], command)
      assert.match(stderr, message, command)
    }
    assert.deepEqual(await cli.json('absence list'), [])
  })
})
