// engine: none
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { spellProof } from '../../proof/note.ts'
import { proofOf, type Vouched } from '../../proof/proof.ts'
import { type Receipt, readReceipt, receiptIn, verifyJws } from '../../proof/receipt.ts'
import { contradictionsOf, judgeJws, judgeProof, judgeReceipt, verdictOf } from '../../proof/verdict.ts'
import { signReceipt } from '../../server/audit/checkpoints/receipt.ts'
import { loadSigningKeys } from '../../server/auth/credentials/tokens/keys.ts'
import { newSigner, type Signer } from '../../witness/test/signed-log.ts'
import { approvedOrder, logAround, origin, receiptOver, spellReceipt } from '../support/approved-order.ts'
import { forge } from '../support/forge.ts'

const log = await newSigner(origin)
const other = await newSigner(origin)
const [near, far] = [
  await newSigner('near.example.org', 'cosignature/v1'),
  await newSigner('far.example.org', 'cosignature/v1'),
]
const lines = logAround(await approvedOrder({ approvers: [{ by: 'ann', byId: 5, signs: true }] }))
const judge = async (receipt: Receipt, ...signers: Signer[]) => {
  const judged = await judgeReceipt(
    spellReceipt(receipt),
    signers.map(({ key }) => key),
  )
  return [verdictOf([judged]), ...judged.faults, ...judged.missing].join(': ')
}

it('two checkpoints contradict each other if they have the same log and size, and different roots', () => {
  const checkpoint = (change: object): Vouched => ({
    ...{ origin, size: 7, root: Uint8Array.of(1), signed: [], cosigned: [], forged: [], unchecked: [] },
    ...change,
  })
  const faultsOf = (change: object) => contradictionsOf([checkpoint({}), checkpoint(change)])
  const root = Uint8Array.of(2)
  assert.deepEqual(faultsOf({ root }), [`two checkpoints of ${origin}, 7 lines have different roots`])
  for (const change of [{}, { root, size: 8 }, { root, origin: `${origin}/2` }]) {
    assert.deepEqual(faultsOf(change), [])
  }
})

describe('the verdict on a receipt', () => {
  const receipt = receiptOver(lines, [log, near])

  it('is valid if the key of the log, or of a witness, stands behind its checkpoint', async () => {
    for (const keys of [[log], [near], [log, near], [log, near, far], [log, other]]) {
      assert.equal(await judge(receipt, ...keys), 'valid')
    }
    const judged = await judgeReceipt(spellReceipt(receipt), [other.key, log.key, far.key, near.key])
    assert.deepEqual(judged.restsOn, [log.key, near.key])
  })

  it('is that it is not checked yet as long as nobody vouches for it, and says what is missing', async () => {
    const address = 'https://orders.example.com/v1/log/key'
    const key = `nobody vouches for the checkpoint: add the key of the log ${origin}, from ${address}`
    const former = `none of the keys given for ${origin} signed the checkpoint: if its key was replaced, add the former one`
    const none = 'none of the given witnesses cosigned the checkpoint'
    const cases: [Signer[], string[]][] = [
      [[], [key]],
      [[await newSigner('other.example.com/log')], [key]],
      [[far], [none, key]],
      [[other], [former]],
      [[other, near], [former]],
      [[log, far], [none]],
    ]
    for (const [keys, missing] of cases) {
      assert.equal(await judge(receipt, ...keys), ['not checked yet', ...missing].join(': '))
    }
  })

  it('is not valid if a signature under the name of a given key is false', async () => {
    const named = { ...log, key: { ...other.key } }
    const forged = receiptOver(lines, [named, near])
    assert.match(await judge(forged, other), /^not valid: the signature of .* is false/)
    const strange = receiptOver(lines, [log, { ...far, key: near.key }])
    assert.match(await judge(strange, log, near), /^not valid: the signature of near/)
  })

  it('is not valid if its checkpoint is of another service', async () => {
    for (const iss of [
      'https://other.example.com',
      'https://orders.example.com:8443',
      'https://orders.example',
    ]) {
      assert.match(
        await judge({ ...receipt, iss }, log),
        /^not valid: its checkpoint is of orders\.example\.com\/log/,
      )
    }
    for (const iss of [
      'https://bank.example.com@orders.example.com',
      'https://orders.example.com/',
      'https://orders.example.com?bank.example.com',
      'javascript://orders.example.com',
      'orders.example.com',
      ['https://orders.example.com'],
    ]) {
      const reason = 'not valid: a claim of the receipt is not what it has to be'
      assert.equal(await judge({ ...receipt, iss: iss as string }, log), reason, String(iss))
    }
    for (const iat of [1.5, 2 ** 53, '1795000000', null]) {
      const reason = 'not valid: a claim of the receipt is not what it has to be'
      assert.equal(await judge({ ...receipt, iat: iat as number }, log), reason, String(iat))
    }
  })

  it('is the same for the proof of its last line', async () => {
    const [last] = receipt.lines.slice(-1)
    const proof = proofOf(last ?? assert.fail(), receipt.checkpoint)
    const of = async (...keys: Signer[]) =>
      verdictOf([
        await judgeProof(
          proof,
          keys.map(({ key }) => key),
        ),
      ])
    assert.deepEqual(
      [await of(log), await of(), await of(other)],
      ['valid', 'not checked yet', 'not checked yet'],
    )
    const [first = assert.fail()] = receipt.lines
    const forgeries = {
      index: { ...proof, index: proof.index - 1 },
      path: { ...proof, path: proofOf(first, receipt.checkpoint).path },
      'path of no line': { ...proof, path: proof.path.slice(1) },
      line: {
        ...proof,
        extra: proofOf({ ...first, line: { ...first.line, sequence: proof.index + 1 } }, '').extra,
      },
      'no line': { ...proof, extra: undefined },
    }
    for (const [name, forged] of Object.entries(forgeries)) {
      const judged = await judgeProof(forged, [log.key])
      assert.deepEqual([verdictOf([judged]), judged.line], ['not valid', undefined], name)
    }
    assert.ok(spellProof(proof).length > 0)
  })
})

for (const algorithm of ['RS256', 'PS256'] as const) {
  describe(`a receipt as a JWS signed with ${algorithm}`, async () => {
    const [keys, others] = [await loadSigningKeys([], algorithm), await loadSigningKeys([], algorithm)]
    const receipt = receiptOver(lines, [log])
    const jws = await signReceipt(keys, receipt.iss, receipt, receipt.iat * 1_000)
    const [header = '', payload = '', signature = ''] = jws.split('.')
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

    it('is read as it was signed, alone, in an answer and in a certificate', () => {
      const texts = [
        jws,
        ` ${jws}\n`.trim(),
        JSON.stringify({ receipt: jws }),
        `<p><template id="receipt">${jws}</template>`,
      ]
      for (const text of texts) assert.deepEqual(readReceipt(receiptIn(text) ?? ''), receipt)
      for (const text of ['', 'a.b', '{}', '{"receipt":7}', '{', '<template id="receipt">']) {
        assert.equal(receiptIn(text), undefined, text)
      }
    })

    it('needs no key of the service, and is not valid if a given one did not sign it', async () => {
      const published = { keys: [...others.jwks.keys, ...keys.jwks.keys] }
      assert.deepEqual(
        [await verifyJws(jws, published), await verifyJws(jws, others.jwks)],
        [true, undefined],
      )
      const resigned = `${header}.${payload}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`
      assert.equal(verdictOf([await judgeReceipt(resigned, [log.key])]), 'valid')
      const judged = await judgeJws(resigned, [log.key], [others.jwks, keys.jwks])
      assert.match(judged.faults.join(), /did not sign it/)
    })

    it('is refused if its header names an algorithm that the key is not for', async () => {
      const asking = (alg: string) => `${part({ alg, kid: keys.kid })}.${payload}.${signature}`
      for (const alg of ['none', 'HS256', 'toString', algorithm === 'RS256' ? 'PS256' : 'RS256']) {
        await assert.rejects(verifyJws(asking(alg), keys.jwks), /not for/)
      }
      for (const alg of ['none', 'toString']) {
        const named = { keys: keys.jwks.keys.map((key) => ({ ...key, alg })) }
        await assert.rejects(verifyJws(asking(alg), named), /not for/)
      }
      const unusable = { keys: keys.jwks.keys.map((key) => ({ ...key, kty: 'EC' })) }
      await assert.rejects(verifyJws(jws, unusable), /cannot be used/)
    })

    it('is distinguished from anything that is not a receipt', () => {
      const token = forge({ alg: algorithm, kid: keys.kid, typ: 'at+jwt' }, { ...receipt }, keys.privateKey)
      const texts = [
        '',
        'a',
        '..',
        'a.b.c',
        '\ud800.a.b',
        `${jws}.a`,
        `${jws}*`,
        `${part([])}.a.b`,
        'bnVsbA.a.b',
      ]
      for (const text of [...texts, token]) assert.throws(() => readReceipt(text), /not a receipt/, text)
      for (const claims of [
        null,
        [],
        7,
        {},
        { ...receipt, order: {} },
        { ...receipt, exp: 1 },
        { ...receipt, lines: {} },
      ]) {
        assert.throws(
          () => readReceipt(`${header}.${part(claims as object)}.${signature}`),
          /a receipt must have|must be a list/,
        )
      }
    })
  })
}
