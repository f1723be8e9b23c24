// engine: SQLite
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const root = fileURLToPath(new URL('..', import.meta.url))

interface Line {
  name: string
  cpuMicroseconds: number
  rounds: { all: number; failures: Record<string, number> }[]
}

describe('bench --quick', () => {
  it('measures every scenario against the real service, without one failed request', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ['bench/run.ts', '--quick'], { cwd: root })
    const file = /written to (bench\/results\/\S+\.json)/.exec(stdout)?.[1] ?? ''
    const text = readFileSync(`${root}${file}`, 'utf8')
    const result = JSON.parse(text)
    const lines: Line[] = [...result.sqlite, ...result.signIn.lines, ...result.growth]
    assert.ok(lines.length > 30, String(lines.length))
    // In so short a time none may come within the measured part, but those that were asked for are answered.
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
})
