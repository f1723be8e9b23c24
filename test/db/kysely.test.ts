// engine: none
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { makeKyselyOneFile } from '../../tools/one-file.ts'

const oneFile = new URL('one-file.js', import.meta.resolve('kysely')).href

it('the tests run on the bundled file of Kysely, which exports what the package does', async () => {
  await makeKyselyOneFile()
  const [ours, whole, parts] = await Promise.all([import('#kysely'), import(oneFile), import('kysely')])
  assert.equal(ours.Kysely, whole.Kysely)
  assert.notEqual(ours.Kysely, parts.Kysely)
  const named = (library: object) =>
    Object.entries(library).map(([name, value]) => [name, typeof value, value.name])
  assert.deepEqual(named(whole), named(parts))
})
