// engine: none
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Meant, type Prepared, type ShownDecision, signDecisions } from '../../client/src/signing.ts'
import { challengeOf, placesOf, spellStatement } from '../../proof/decision.ts'
import { hashesOf, type Salted } from '../../proof/line.ts'
import { publicUrl } from '../support/service.ts'

const salt = 'ab'.repeat(16)
const text = { value: 'Late.', salt }
const [offer, contract] = ['11'.repeat(32), '22'.repeat(32)]
const [acme, bolt]: [ShownDecision, ShownDecision] = [
  { id: '1', version: 3, customer: 'Acme', total: 1250.5, reason: 'Late.', documents: [contract, offer] },
  { id: '2', version: 1, customer: 'Bolt', total: 8, reason: null, documents: 0 },
]
const meant: Meant = { issuer: publicUrl, action: 'approve', byId: 4, orders: [acme, bolt] }

const clearOf = (customer: string, more = {}): Record<string, Salted> => ({
  by: { value: 'mara', salt },
  customer: { value: customer, salt },
  ...more,
})
/** A statement of the service that fits its clear values. */
function statementOf(id: string, version: number, total: string, clear: Record<string, Salted>) {
  return spellStatement({
    ...{ typ: 'countersign-decision', iss: publicUrl, action: 'approve', byId: 4, forId: null },
    order: { id, version, total },
    documents: id === '1' ? [offer, contract] : [],
    hashes: hashesOf(clear),
    ...{ nonce: 'AAAA', until: '2026-11-27T19:45:00.000Z' },
  })
}
const clear = [clearOf('Acme', { text }), clearOf('Bolt')]
const statements = [statementOf('1', 3, '1250.5', clear[0] ?? {}), statementOf('2', 1, '8', clear[1] ?? {})]
const options = { challenge: await challengeOf(statements) } as Prepared['options']
const prepared = { statements, clear, options } as unknown as Prepared

let touches = 0
const credential = {
  ...{ id: 'key', rawId: 'key', type: 'public-key' as const, clientExtensionResults: {} },
  response: { clientDataJSON: 'c', authenticatorData: 'a', signature: 's', transports: ['usb'] },
}
function sign(changed: Partial<Meant>, given: object = {}) {
  touches = 0
  return signDecisions({ ...prepared, ...given }, { ...meant, ...changed }, async (asked) => {
    touches += 1
    assert.equal(asked, options)
    return credential
  })
}

describe('a touch signs decisions', () => {
  it('that are what was shown, each with its place under the challenge', async () => {
    const places = await placesOf(statements)
    const signed = [...(await sign({}))].map(([id, header]) => [
      id,
      JSON.parse(Buffer.from(header, 'base64url').toString()),
    ])
    const { response, id } = credential
    const { transports: _, ...kept } = response
    const common = { credential: { id, response: { ...kept, userHandle: null } } }
    assert.deepEqual(signed, [
      [
        '1',
        {
          statement: statements[0],
          salts: { by: salt, customer: salt, text: salt },
          ...places[0],
          ...common,
        },
      ],
      ['2', { statement: statements[1], salts: { by: salt, customer: salt }, ...places[1], ...common }],
    ])
    assert.equal(touches, 1)
  })

  it('of which parts were not shown, or only how many documents', async () => {
    await sign({ orders: [{ ...acme, documents: 2 }, bolt] })
    await sign({ orders: [{ id: '1', version: 3 }, bolt] })
    assert.equal(touches, 1)
  })
})

describe('no touch is asked for', () => {
  const refuses = async (changed: Partial<Meant>, given = {}) => {
    await assert.rejects(sign(changed, given), /a signature of something else|not a statement of a decision/)
    assert.equal(touches, 0)
  }

  for (const [what, changed] of Object.entries<Partial<Meant>>({
    'of another service': { issuer: 'https://elsewhere.example.com' },
    'of another kind': { action: 'reject' },
    'by another person': { byId: 5 },
    'about fewer orders': { orders: [acme] },
    'about more orders': { orders: [acme, bolt, { id: '3', version: 1 }] },
    'in another order': { orders: [bolt, acme] },
  })) {
    it(`for decisions ${what}`, () => refuses(changed))
  }

  for (const [what, changed] of Object.entries<Partial<ShownDecision>>({
    'another order': { id: '7' },
    'another version': { version: 4 },
    'another customer': { customer: 'Acne' },
    'another total': { total: 1250.51 },
    'another reason': { reason: 'Later.' },
    'a reason that was not shown': { reason: null },
    'another document': { documents: [contract, '33'.repeat(32)] },
    'a document that was not shown': { documents: [contract] },
    'another number of documents': { documents: 1 },
  })) {
    it(`for ${what}`, () => refuses({ orders: [{ ...acme, ...changed }, bolt] }))
  }

  for (const [what, first] of Object.entries({
    'of another name than the one it shows': {
      ...clear[0],
      customer: { value: 'Acme', salt: 'cd'.repeat(16) },
    },
    'of a value that it does not show': clearOf('Acme'),
    'of fewer values than it shows': { ...clear[0], more: text },
  })) {
    it(`for a hash ${what}`, () =>
      refuses({ orders: [{ id: '1', version: 3 }, bolt] }, { clear: [first, clear[1]] }))
  }

  it('for a statement in another spelling, or under the challenge of others', async () => {
    const spaced = [`${statements[0]} `, statements[1] ?? '']
    await refuses({}, { statements: spaced, options: { challenge: await challengeOf(spaced) } })
    await refuses({}, { options: { challenge: await challengeOf([...statements].reverse()) } })
  })
})
