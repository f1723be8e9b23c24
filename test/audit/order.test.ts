// engine: none
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { LogLine } from '../../proof/line.ts'
import { type OrderRules, readOrder } from '../../proof/order.ts'
import { describeOrder } from '../../proof/words.ts'
import { type Approver, approvedOrder, logAround } from '../support/approved-order.ts'
import { renamed, withoutValue } from '../support/log.ts'

const [ann, bo, cy]: [Approver, Approver, Approver] = [
  { by: 'ann', byId: 5, signs: true },
  { by: 'bo', byId: 6, for: { name: 'dee', id: 7 }, role: 'Finance' },
  { by: 'cy', byId: 8, isProgram: true },
]
const shas = ['ab'.repeat(32), '0d'.repeat(32)]
const plain = { total: String, instant: (at: string) => at.slice(0, 10), name: String }

async function linesOf(...wanted: Parameters<typeof approvedOrder>): Promise<LogLine[]> {
  return logAround(await approvedOrder(...wanted)).filter(({ id }) => !id.startsWith('other'))
}

describe('readOrder', () => {
  it('reads who approved what, for whom, by which rule and with which key', async () => {
    const rules = { role: 'Finance', selfApproval: false }
    const order = await readOrder(await linesOf({ approvers: [ann, bo, cy], documents: shas, rules }))
    assert.deepEqual(describeOrder(order, plain), [
      'Order #1042 for Müller & Söhne has a total of 1250.5.',
      'jo created it on 2026-11-22.',
      'Rule: three approvals from people or services other than the creator, at least one in the role Finance.',
      ...shas.map(
        (sha, at) => `jo added the document “offer ${at}.pdf” (7 bytes, SHA-256 ${sha}) on 2026-11-22.`,
      ),
      'Approval 1 of 3: ann approved it on 2026-11-22. The passkey “Phone” signed exactly this at https://orders.example.com; it was added in line 6 on 2026-11-22 by someone who had given the password of the account.',
      'Approval 2 of 3: bo approved it in the place of dee, in the role Finance on 2026-11-22.',
      'Approval 3 of 3: The service cy approved it on 2026-11-22.',
    ])
  })

  it('uses printed names, and says which names it does not show, however they were taken out', async () => {
    const lines = await linesOf()
    const named = logAround(
      (await approvedOrder()).map((line) => renamed(line, { byName: 'Jo Doe' })),
    ).filter(({ id }) => !id.startsWith('other'))
    assert.equal(describeOrder(await readOrder(named), plain)[1], 'Jo Doe (jo) created it on 2026-11-22.')
    const erased = lines.map((line) => withoutValue(withoutValue(line, 'customer'), 'by'))
    assert.deepEqual(describeOrder(await readOrder(erased), plain), [
      'Order #1042 for a customer whose name is not shown has a total of 1250.5.',
      'person-3 (name is not shown) created it on 2026-11-22.',
      'Rule: one approval from people or services, also from the creator.',
      'person-4 (name is not shown) approved it on 2026-11-22.',
      'A name that is not shown was erased, or taken out of what was given.',
    ])
  })

  const [two, role] = [[ann, bo], 'Finance']
  const [jo, strict] = [{ by: 'jo', byId: 3 }, { selfApproval: false }]
  const refusals: [RegExp, Record<string, Parameters<typeof approvedOrder>[0]>][] = [
    [
      /approval 2, and .* ask for 3/,
      { 'too few approvals': { approvers: two, rules: { approvals: 3, role } } },
    ],
    [/approval 1, and .* ask for 1/, { 'too many': { approvers: two, rules: { approvals: 1, role } } }],
    [
      /approved the order before/,
      {
        'one person twice': { approvers: [ann, { ...ann, signs: false }] },
        'one authority twice': { approvers: [{ by: 'dee', byId: 7 }, bo], rules: { role } },
        'the deputy of two': { approvers: [bo, { ...bo, for: { name: 'eli', id: 9 } }], rules: { role } },
        'two deputies of one': { approvers: [bo, { ...bo, by: 'cy', byId: 8 }], rules: { role } },
        'one whose deputy approved it': { approvers: [bo, { by: 'dee', byId: 7 }], rules: { role } },
      },
    ],
    [
      /its creator/,
      {
        'its creator': { approvers: [jo], rules: strict },
        'a deputy of its creator': {
          approvers: [{ ...bo, for: { name: 'jo', id: 3 } }],
          rules: { ...strict, role },
        },
        'the owner of the client': { approvers: [ann], ownerId: 5, rules: strict },
        'its creator in the place of another': {
          approvers: [{ ...bo, ...jo }],
          rules: { ...strict, role },
        },
        'its creator, a client that has an owner': { approvers: [jo], ownerId: 5, rules: strict },
      },
    ],
    [/services/, { 'a service': { approvers: [cy], rules: { services: false } } }],
    [
      /nobody of the role Finance/,
      { 'nobody of the role': { approvers: [ann], rules: { role: 'Finance' } } },
    ],
    [/a role that the rules/, { 'another role': { approvers: [bo], rules: { role: 'Legal' } } }],
    [/ask for a signature/, { 'no signature': { approvers: [bo], rules: { passkey: true, role } } }],
  ]
  for (const [reason, all] of refusals) {
    for (const [name, wanted] of Object.entries(all)) {
      it(`refuses an approval by ${name}`, async () => {
        await assert.rejects(readOrder(await linesOf(wanted)), reason)
      })
    }
  }

  it('refuses lines that are missing, twice, out of order or about something else', async () => {
    const whole = await linesOf({ approvers: [ann, bo], documents: shas, rules: { role } })
    await readOrder(whole)
    for (const at of whole.keys()) {
      await assert.rejects(readOrder(whole.toSpliced(at, 1)), Error, `without ${whole[at]?.kind}`)
      await assert.rejects(readOrder(whole.toSpliced(at, 0, whole[at] as LogLine)), /out of order/)
      await assert.rejects(readOrder([...whole.toSpliced(at, 1), whole[at] as LogLine].toReversed()))
    }
    const other = { ...(whole[1] as LogLine), sequence: 99, subject: { kind: 'order', id: 'other' } }
    await assert.rejects(readOrder([...whole, other]), /line 99 is not about this approval/)
  })

  it('refuses a signature by a key of somebody else, of later, or over something else', async () => {
    const whole = await linesOf({ approvers: [ann], documents: shas })
    for (const [kind, of, reason] of [
      ['passkey-added', { subject: { kind: 'account', id: '6' } }, /did not have then/],
      ['passkey-added', { sequence: 99 }, /out of order/],
      ['approved', { byId: 6 }, /did not have then/],
      ['approved', { version: 9 }, /over something else/],
      ['approved', { forId: 6 }, /over something else/],
      ['approved', { hashes: {} }, /over something else/],
    ] as const) {
      const changed = whole.map((line) => (line.kind === kind ? { ...line, ...of } : line))
      await assert.rejects(readOrder(changed), reason)
    }
    const [first, ...rest] = whole
    const later = [...rest, { ...(first as LogLine), sequence: 99 }]
    await assert.rejects(readOrder(later), /did not have then/)
  })

  type Change = (line: LogLine) => object
  type Forging = (lines: LogLine[]) => LogLine[]
  const each =
    (kinds: string, change: Change): Forging =>
    (lines) =>
      lines.map((line) => (kinds.split(' ').includes(line.kind) ? { ...line, ...change(line) } : line))
  /** Adds a line after the last of a kind. */
  const after =
    (kind: string, change: Change): Forging =>
    (lines) => {
      const at = lines.findLastIndex((line) => line.kind === kind)
      const line = lines[at] ?? assert.fail()
      return lines.toSpliced(at + 1, 0, { ...line, ...change(line) })
    }
  const both =
    (one: Forging, other: Forging): Forging =>
    (lines) =>
      other(one(lines))
  const saying =
    (data: object): Change =>
    (line) => ({ data: { ...line.data, ...data } })
  const document =
    (change: object): Change =>
    (line) =>
      saying({ document: { ...(line.data.document as object), ...change } })(line)
  const passkey =
    (change: object): Change =>
    (line) =>
      saying({ passkey: { ...(line.data.passkey as object), ...change } })(line)
  const later: Change = ({ version }) => ({ version: Number(version) + 1 })
  const decidedAs = (kind: string): Forging =>
    both(
      each('approved', later),
      after('approval-given', ({ data: { signature: _, ...data } }) => ({ kind, version: 5, data })),
    )
  const ofOrder = 'created document-added approval-given approved'
  const [otherOrder, otherSha] = [{ kind: 'order', id: 'other' }, 'ef'.repeat(32)]
  const forgeries: Record<string, [Forging, RegExp]> = {
    'another total': [each(ofOrder, saying({ total: '1' })), /over something else/],
    'another order': [each(ofOrder, () => ({ subject: otherOrder })), /over something else/],
    'another document': [
      both(
        each('document-added', document({ sha256: otherSha })),
        each('approval-given approved', saying({ documents: [otherSha, otherSha] })),
      ),
      /over something else/,
    ],
    'another action': [each('approval-given', () => ({ kind: 'rejected' })), /over something else/],
    'another approver': [
      both(
        each('passkey-added', () => ({ subject: { kind: 'account', id: '9' } })),
        each('approval-given', () => ({ byId: 9 })),
      ),
      /over something else/,
    ],
    'the key of the absent person': [
      both(
        each('passkey-added', () => ({ subject: { kind: 'account', id: '7' } })),
        each('approval-given', () => ({ forId: 7 })),
      ),
      /did not have then/,
    ],
    'a second enrolment of a key': [after('passkey-added', passkey({ publicKey: {} })), /there already/],
    'an enrolment of a key that signed nothing': [
      after('passkey-added', passkey({ id: 'other' })),
      /not about/,
    ],
    'a passkey that rests on nothing': [each('passkey-added', passkey({ restedOn: {} })), /its data is not/],
    'another customer': [each('approved', (line) => renamed(line, { customer: 'Other' })), /its customer/],
    'another total in one line': [each('approved', saying({ total: '1' })), /total is not that/],
    'a second creation': [after('created', saying({ number: 7 })), /created before/],
    'a version that is there twice': [each('approved', () => ({ version: 4 })), /version is not above/],
    'two documents of one id': [each('document-added', document({ id: 'same' })), /document already/],
    'a document after an approval': [
      both(
        each('approved', later),
        after('approval-given', () => ({
          ...{ kind: 'document-added', version: 5 },
          data: { total: '1250.5', document: { id: 'late', mediaType: '', size: 7, sha256: otherSha } },
        })),
      ),
      /somebody has approved/,
    ],
    'a document that was removed': [
      both(
        each('approval-given approved', later),
        after('document-added', (line) => ({ ...later(line), kind: 'document-removed' })),
      ),
      /its documents are not/,
    ],
    'a document left out': [each('approved', saying({ documents: [shas[1]] })), /its documents are not/],
    'documents out of order': [each('approved', saying({ documents: shas })), /its documents are not/],
    'other documents rejected': [
      each('approved', (line) => ({ ...saying({ documents: [] })(line), kind: 'rejected' })),
      /its documents are not/,
    ],
    'a size beyond 2^53': [each('document-added', document({ size: 2 ** 53 })), /its data is not/],
    'a document without a hash': [each('document-added', document({ sha256: 7 })), /its data is not/],
    'an approval of a withdrawn order': [decidedAs('withdrawn'), /one has decided it/],
    'an approval of a rejected order': [decidedAs('rejected'), /one has decided it/],
    'an approval that is of no order': [
      each('approved', ({ subject }) => ({ subject: { ...subject, kind: 'draft' } })),
      /do not end with an approval/,
    ],
    'a line that says nothing of it': [after('document-added', () => ({ kind: 'noted' })), /not about/],
  }
  it('refuses lines by somebody who has every key but the passkeys', async () => {
    const whole = await linesOf({ approvers: [ann, bo], documents: shas, rules: { role } })
    for (const [name, [forge, reason]] of Object.entries(forgeries)) {
      const forged = forge(whole).map((line, at) => ({ ...line, sequence: at + 1 }))
      await assert.rejects(readOrder(forged), reason, name)
    }
  })

  it('refuses rules and facts that no order has', async () => {
    const rules: object[] = [
      { approvals: 0 },
      { approvals: '1' },
      { approvals: 1.5 },
      { approvals: 2 ** 53 },
      { selfApproval: 1 },
      { role: 7 },
      { passkey: null },
    ]
    for (const wrong of rules) {
      const lines = await linesOf({ rules: wrong as Partial<OrderRules> })
      await assert.rejects(readOrder(lines), /its data is not what/, JSON.stringify(wrong))
    }
    const [created, approved] = (await linesOf()) as [LogLine, LogLine]
    const facts = { number: ['x', 2 ** 53, 1.5], total: [7, '1e3', '-1', ''], rules: [undefined] }
    for (const [name, values] of Object.entries(facts)) {
      for (const value of values) {
        const lines = [created, approved].map((line) => ({ ...line, data: { ...line.data, [name]: value } }))
        await assert.rejects(readOrder(lines), Error, `${name} ${value}`)
      }
    }
  })
})
