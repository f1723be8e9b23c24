// engine: none
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { spellVerifierKey } from '../../../proof/note.ts'
import { loadWitnesses } from '../../../server/audit/witnesses/witnesses.ts'
import { type ConfigurationError, readConfig } from '../../../server/config.ts'
import { newSigner } from '../../../witness/test/signed-log.ts'

const witness = spellVerifierKey((await newSigner('witness.example/one', 'cosignature/v1')).key)
const other = spellVerifierKey((await newSigner('witness.example/two', 'cosignature/v1')).key)
const pq = spellVerifierKey((await newSigner('witness.example/pq', 'subtree/v1')).key)
const log = spellVerifierKey((await newSigner('orders.example/log', 'ed25519')).key)

const load = (LOG_WITNESSES: string, LOG_WITNESS_QUORUM = '') =>
  loadWitnesses(readConfig({ LOG_WITNESSES, LOG_WITNESS_QUORUM }, { development: true }))
const faultsOf = (witnesses: string, quorum?: string) =>
  load(witnesses, quorum).then(
    () => [],
    ({ faults }: ConfigurationError) => faults,
  )

describe('LOG_WITNESSES', () => {
  it('has a verifier key and an address for each witness', async () => {
    const { list, quorum } = await load(
      `${witness} https://one.example/, ${other}  http://localhost:7380/a/b/`,
    )
    assert.deepEqual(
      list.map(({ key, url }) => [spellVerifierKey(key), url]),
      [
        [witness, 'https://one.example'],
        [other, 'http://localhost:7380/a/b'],
      ],
    )
    assert.equal(quorum, 2)
    assert.deepEqual((await load('')).list, [])
  })

  it('needs more than half of the witnesses unless LOG_WITNESS_QUORUM says otherwise', async () => {
    const signers = await Promise.all([1, 2, 3, 4].map((name) => newSigner(`w${name}`, 'cosignature/v1')))
    const items = signers.map(({ key }) => `${spellVerifierKey(key)} https://${key.name}.example`)
    for (const [count, quorum] of [
      [1, 1],
      [2, 2],
      [3, 2],
      [4, 3],
    ] as const) {
      assert.equal((await load(items.slice(0, count).join(','))).quorum, quorum)
    }
    assert.equal((await load(items.join(','), '1')).quorum, 1)
  })

  it('is refused with every fault, without repeating a value', async () => {
    const address = 'its address must be https, or http on loopback, without a query'
    const cases: [string, string][] = [
      [witness, 'must be a verifier key, a space and an address'],
      [
        `${witness} https://one.example https://two.example`,
        'must be a verifier key, a space and an address',
      ],
      [`${log} https://one.example`, 'this is the key of a log; that of a witness is needed'],
      ['x https://one.example', 'a verifier key must be spelled NAME+ID+KEY'],
      [`${witness} one.example`, address],
      [`${witness} http://one.example`, address],
      [`${witness} ftp://localhost`, address],
      [`${witness} https://one.example/?x`, address],
      [`${witness} https://one.example/#x`, address],
      [`${witness} https://jo:secret@one.example`, address],
    ]
    for (const [item, fault] of cases) {
      assert.deepEqual(await faultsOf(`${other} https://two.example,${item}`), [
        `LOG_WITNESSES: witness 2 of 2: ${fault}`,
      ])
    }
    const faults = await faultsOf(cases.map(([item]) => item).join(','), '11')
    assert.equal(faults.length, cases.length + 1)
    assert.equal(faults.at(-1), 'LOG_WITNESS_QUORUM: must be at most 10, the number of LOG_WITNESSES')
  })

  it('skips a key of a kind that is not known, and starts without it', async () => {
    const later = Buffer.from(`\x07${'k'.repeat(32)}`).toString('base64')
    const items = [`${pq} https://pq.example`, `w+00000000+${later} https://w.example`]
    const { list, quorum, skipped } = await load(items.join(','), '2')
    assert.deepEqual([list.map(({ key }) => key.type), quorum], [['subtree/v1'], 2])
    assert.deepEqual(skipped, [
      'LOG_WITNESSES: witness 2 of 2: the key must be of type 1 (Ed25519), 4 (cosignature/v1) or 6 (ML-DSA-44), and is of type 7',
    ])
  })

  it('skips a key whose signatures cannot be checked here', async (t) => {
    t.mock.method(crypto.subtle, 'importKey', () => Promise.reject(new DOMException('', 'NotSupportedError')))
    const { list, skipped } = await load(`${pq} https://pq.example`)
    assert.deepEqual(
      [list, skipped],
      [[], ['LOG_WITNESSES: witness 1 of 1: this Node cannot check signatures by its kind of key']],
    )
  })

  it('cannot name a key twice, nor a quorum without witnesses', async () => {
    assert.deepEqual(await faultsOf(`${witness} https://one.example,${witness} https://two.example`), [
      'LOG_WITNESSES: two witnesses have the same key',
    ])
    assert.deepEqual(await faultsOf('', '1'), [
      'LOG_WITNESS_QUORUM: must be at most 0, the number of LOG_WITNESSES',
    ])
    assert.throws(() => readConfig({ LOG_WITNESS_QUORUM: '0' }, { development: true }), {
      faults: ['LOG_WITNESS_QUORUM: must be a whole number from 1 to 64'],
    })
  })
})
