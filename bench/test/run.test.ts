import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { interleave } from '../rounds.ts'
import type { MeasuredServer } from '../server.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

interface Line {
  name: string
  cpuMicroseconds: number
  rounds: { all: number; failures: Record<string, number> }[]
}

/** The long form runs every scenario. */
const [chosen, least] =
  process.env.FAULTS === 'long' ? [[], 30] : [['--only', 'GET one, bearer', '--no-growth'], 1]

it('bench --quick measures its scenarios against the real service, without one failed request', async () => {
  const options = ['bench/run.ts', '--quick', ...chosen]
  const { stdout } = await promisify(execFile)(process.execPath, options, { cwd: root })
  const file = /written to (bench\/results\/\S+\.json)/.exec(stdout)?.[1] ?? ''
  const text = readFileSync(`${root}${file}`, 'utf8')
  const result = JSON.parse(text)
  const lines: Line[] = [...result.sqlite, ...result.signIn.lines, ...result.growth]
  assert.ok(lines.length > least, String(lines.length))
  // The run is so short that no answer may arrive in the measured part. But the requests that were sent are
  // answered.
  const unanswered = lines.filter(({ rounds }) => rounds.some(({ all }) => all === 0))
  assert.deepEqual(
    unanswered.map(({ name }) => name),
    [],
  )
  assert.ok(lines.every(({ cpuMicroseconds }) => cpuMicroseconds > 0))
  assert.deepEqual(
    lines.flatMap(({ name, rounds }) => rounds.map(({ failures }) => ({ name, failures }))),
    lines.flatMap(({ name, rounds }) => rounds.map(() => ({ name, failures: {} }))),
  )
  assert.ok(result.startMilliseconds > 0 && result.idleMegabytes > 0)
  assert.equal(text.includes(root), false, 'a result names no path')
  assert.match(stdout, /GET one, bearer/)
})

it('a bench ends with an error when an answer has another status than expected', async (t) => {
  const refusing = createServer((_, response) => response.writeHead(500).end()).listen(0, '127.0.0.1')
  t.after(() => refusing.close())
  await once(refusing, 'listening')
  const usage = async () => ({ cpuMicroseconds: 0, userMicroseconds: 0, residentBytes: 0 })
  const { port } = refusing.address() as AddressInfo
  const scenario = {
    name: 'a create',
    server: { port, usage } as unknown as MeasuredServer,
    requests: () => ({ kind: 'get' as const, paths: ['/'], headers: [''] }),
    connections: 1,
    expected: 201,
  }
  await assert.rejects(
    interleave([scenario], { rounds: 1, seconds: 0.1, onRound: () => undefined }),
    /^Error: a create: of (\d+) answers \1 of status 500$/,
  )
})
