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
  const refusals: [string, Parameters<typeof approvedOrder>[0], RegExp][] = [
    ['too few approvals', { approvers: two, rules: { approvals: 3, role } }, /approval 2, and .* ask for 3/],
    ['too many', { approvers: two, rules: { approvals: 1, role } }, /approval 1, and .* ask for 1/],
    ['one person twice', { approvers: [ann, { ...ann, signs: false }] }, /approved the order before/],
    [
      'one authority twice',
      { approvers: [{ by: 'dee', byId: 7 }, bo], rules: { role } },
      /approved the order before/,
    ],
    ['its creator', { approvers: [{ by: 'jo', byId: 3 }], rules: { selfApproval: false } }, /its creator/],
    [
      'a deputy of its creator',
      { approvers: [{ ...bo, for: { name: 'jo', id: 3 } }], rules: { selfApproval: false, role } },
      /its creator/,
    ],
    [
      'the owner of the client',
      { approvers: [ann], ownerId: 5, rules: { selfApproval: false } },
      /its creator/,
    ],
    ['a service', { approvers: [cy], rules: { services: false } }, /services/],
    ['nobody of the role', { approvers: [ann], rules: { role: 'Finance' } }, /nobody of the role Finance/],
    ['another role', { approvers: [bo], rules: { role: 'Legal' } }, /a role that the rules/],
    ['no signature', { approvers: [bo], rules: { passkey: true, role } }, /ask for a signature/],
  ]
  for (const [name, wanted, reason] of refusals) {
    it(`refuses an approval by ${name}`, async () => {
      await assert.rejects(readOrder(await linesOf(wanted)), reason)
    })
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
    const change = (kind: string, of: (line: LogLine) => object) =>
      readOrder(whole.map((line) => (line.kind === kind ? { ...line, ...of(line) } : line)))
    await assert.rejects(
      change('passkey-added', () => ({ subject: { kind: 'account', id: '6' } })),
      /did not have then/,
    )
    await assert.rejects(
      change('passkey-added', () => ({ sequence: 99 })),
      /out of order/,
    )
    await assert.rejects(
      change('approved', () => ({ byId: 6 })),
      /did not have then/,
    )
    await assert.rejects(
      change('approved', () => ({ version: 9 })),
      /over something else/,
    )
    await assert.rejects(
      change('approved', () => ({ forId: 6 })),
      /over something else/,
    )
    await assert.rejects(
      change('approved', () => ({ hashes: {} })),
      /over something else/,
    )
    const [first, ...rest] = whole
    const later = [...rest, { ...(first as LogLine), sequence: 99 }]
    await assert.rejects(readOrder(later), /did not have then/)
  })

  it('refuses rules and facts that no order has', async () => {
    const rules: object[] = [
      { approvals: 0 },
      { approvals: '1' },
      { selfApproval: 1 },
      { role: 7 },
      { passkey: null },
    ]
    for (const wrong of rules) {
      const lines = await linesOf({ rules: wrong as Partial<OrderRules> })
      await assert.rejects(readOrder(lines), /its data is not what/, JSON.stringify(wrong))
    }
    const [created, approved] = (await linesOf()) as [LogLine, LogLine]
    for (const [name, value] of Object.entries({ number: 'x', total: 7, rules: undefined })) {
      const line = { ...created, data: { ...created.data, [name]: value } }
      await assert.rejects(readOrder([line, approved]), Error, name)
    }
  })
})
