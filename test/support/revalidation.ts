import assert from 'node:assert/strict'
import type { Client } from './client.ts'

/**
 * Asserts that a caller may cache the answer, and gets 304 for its entity tag until the change, and 200 for
 * other tags.
 */
export async function assertRevalidates(
  caller: Client,
  path: string,
  change: () => Promise<unknown>,
): Promise<void> {
  const { headers } = await caller.get(path)
  const etag = headers.get('etag') ?? ''
  assert.match(etag, /^(?:W\/)?"[\x21\x23-\x7e]+"$/)
  assert.equal(headers.get('cache-control'), 'private, no-cache')
  assert.match(headers.get('vary') ?? '', /\bCookie, Authorization\b/)
  const again = (tags: string) => caller.get(path, { 'if-none-match': tags })
  const opaque = etag.replace('W/', '')
  for (const tags of [etag, opaque, `W/${opaque}`, `"x", ${etag}`, '*']) {
    const answer = await again(tags)
    assert.deepEqual([answer.status, answer.text, answer.headers.get('etag')], [304, '', etag], tags)
    assert.equal(answer.headers.get('content-type'), null)
  }
  for (const tags of ['"other"', 'x', '']) assert.equal((await again(tags)).status, 200, tags)
  await change()
  assert.equal((await again(etag)).status, 200)
}
