import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import type { LogLine } from '../../proof/line.ts'
import { verifyLog } from '../../proof/log.ts'
import { bearerOf, newUser } from '../support/accounts.ts'
import { decide, sign } from '../support/decisions.ts'
import { exportOf, inPortions, makeLog, renamed, seal } from '../support/log.ts'
import { createdId } from '../support/orders.ts'
import { newPasskey } from '../support/passkeys.ts'
import { policyRow, putPolicy } from '../support/policy.ts'
import { testService } from '../support/service.ts'

describe('the signatures in a log', () => {
  const service = testService({})
  let lines: LogLine[]
  before(async () => {
    const operator = await service.bearer('operator')
    const user = await newUser(service, { roles: ['Admin'] })
    const passkey = await newPasskey(service, user)
    const caller = await bearerOf(service, user)
    await putPolicy(service, [policyRow(), policyRow({ from: 1_000, passkey: true })])
    const [first = '', second = ''] = [
      await createdId(operator, { total: 2_000 }),
      await createdId(operator, { total: 1 }),
    ]
    const [one, other] = await sign(caller, passkey, { orders: [first, second] })
    assert.equal((await decide(caller, first, one)).status, 204)
    assert.equal((await decide(caller, second, other)).status, 204)
    const third = await createdId(operator, { total: 3_000 })
    const reason = 'Too dear.'
    const [rejection] = await sign(caller, passkey, { action: 'reject', orders: [third], reason })
    assert.equal((await decide(caller, third, rejection, { reason })).status, 204)
    await createdId(operator, { total: 4_000 })
    await seal(service.db)
    const admin = await service.bearer('admin')
    const { text } = await admin.get('/v1/log', { accept: 'application/jsonl' })
    lines = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
  })

  /** Verifies the log after a change, with new hashes, as anyone with the database could make them. */
  async function verified(change: (line: LogLine) => LogLine = (line) => line, given = lines) {
    const rewritten = makeLog(
      given.map((line) => {
        const { sequence: _, hash: __, hashes: ___, ...content } = change(structuredClone(line))
        return content
      }),
    )
    const { fault, signed } = await verifyLog(inPortions(exportOf(rewritten)))
    return { fault, signed }
  }
  /** The line that created the first order that was approved. */
  const creation = () => {
    const approved = lines.find(isApproval)
    return lines.find(({ kind, subject }) => kind === 'created' && subject.id === approved?.subject.id)
  }
  const isApproval = ({ kind }: LogLine) => kind === 'approved'
  const sequenceOf = (kind: string) => lines.find((line) => line.kind === kind)?.sequence

  it('are all checked, and none is missing', async () => {
    assert.deepEqual(await verified(), { fault: null, signed: 3 })
  })

  it('do not hold if anything else is said of the decision', async () => {
    const changes: Record<string, (line: LogLine) => object> = {
      customer: (line) => renamed(line, { customer: 'Other' }),
      total: ({ data }) => ({ data: { ...data, total: '2001' } }),
      version: () => ({ version: 9 }),
      order: ({ subject }) => ({ subject: { ...subject, id: subject.id.replace(/.$/, 'x') } }),
      by: (line) => renamed(line, { by: 'eve' }),
      for: (line) => renamed(line, { for: 'eve' }),
      forId: () => ({ forId: 1 }),
      byId: () => ({ byId: 1 }),
      action: () => ({ kind: 'rejected' }),
    }
    for (const [name, change] of Object.entries(changes)) {
      const { fault } = await verified((line) => (isApproval(line) ? { ...line, ...change(line) } : line))
      assert.equal(fault?.sequence, sequenceOf('approved'), name)
      assert.match(
        String(fault?.reason),
        /signature is over something else|did not have then|is not that of the order|before has created the order|version is not above/,
      )
    }
    const { fault } = await verified((line) =>
      line.kind === 'rejected' ? renamed(line, { text: 'No.' }) : line,
    )
    assert.deepEqual(fault, {
      sequence: sequenceOf('rejected'),
      reason: 'its signature is over something else',
    })
  })

  it('do not hold if a byte of statement, path, touch or key is altered', async () => {
    const at = lines.findIndex(isApproval)
    const enrolment = lines.findIndex(({ kind }) => kind === 'passkey-added')
    // biome-ignore lint/suspicious/noExplicitAny: data of two kinds
    const parts: [index: number, of: (data: any) => any, name: string][] = [
      [at, ({ signature }) => signature, 'statement'],
      [at, ({ signature }) => signature.path, '0'],
      ...['clientDataJSON', 'authenticatorData', 'signature'].map(
        // biome-ignore lint/suspicious/noExplicitAny: data of two kinds
        (name): [number, (data: any) => any, string] => [
          at,
          ({ signature }) => signature.credential.response,
          name,
        ],
      ),
      [at, ({ signature }) => signature.credential, 'id'],
      [enrolment, ({ passkey }) => passkey.publicKey, 'x'],
      [enrolment, ({ passkey }) => passkey.publicKey, 'y'],
    ]
    // The lines that the decision rests on are enough, and a log of two is verified a thousand times.
    const few = [lines[enrolment], creation(), lines[at]].filter((line) => line !== undefined)
    const all = await Promise.all(
      parts.flatMap(([index, of, name]) => {
        const { length } = of(lines[index]?.data)[name]
        return Array.from({ length }, async (_, place) => {
          const { fault } = await verified((line) => {
            if (line.id !== lines[index]?.id) return line
            const part = of(line.data)
            const other = part[name][place] === 'A' ? 'B' : 'A'
            part[name] = part[name].slice(0, place) + other + part[name].slice(place + 1)
            return line
          }, few)
          return fault === null ? `${name} ${place}` : undefined
        })
      }),
    )
    assert.ok(all.length > 800, String(all.length))
    assert.deepEqual(
      all.filter((missed) => missed !== undefined),
      [],
    )
  })

  it('must be by a passkey that the account has at that line', async () => {
    const enrolment = lines.find(({ kind }) => kind === 'passkey-added') ?? assert.fail()
    const approval = lines.find(isApproval) ?? assert.fail()
    const removed: LogLine = { ...enrolment, kind: 'passkey-removed' }
    // biome-ignore lint/suspicious/noExplicitAny: data of its kind
    const { passkey, name } = enrolment.data as any
    const byLink: LogLine = { ...enrolment, kind: 'link-used', data: { name, passkeys: [passkey.id] } }
    const created = creation() ?? assert.fail()
    const orders = [[approval], [approval, enrolment], [enrolment, removed, approval]]
    for (const log of [...orders, [enrolment, byLink, approval]]) {
      const { fault } = await verified((line) => line, [created, ...log])
      assert.match(String(fault?.reason), /did not have then/)
    }
    const foreign = { ...enrolment, subject: { ...enrolment.subject, id: '1' } }
    assert.match(
      String((await verified((line) => line, [created, foreign, approval])).fault?.reason),
      /did not have/,
    )
  })

  it('must be there where the rules of the order ask for one', async () => {
    const { fault } = await verified((line) => {
      // biome-ignore lint/suspicious/noExplicitAny: data of its kind
      const { signature: _, ...data } = line.data as any
      return isApproval(line) ? { ...line, data } : line
    })
    const reason = 'the rules of the order ask for a signature'
    assert.deepEqual(fault, { sequence: sequenceOf('approved'), reason })
  })

  it('with nonsense in their data are a fault and not a crash', async () => {
    for (const data of [{}, { signature: null }, { signature: 1 }, { signature: { credential: {} } }]) {
      const { fault } = await verified((line) =>
        isApproval(line) ? { ...line, data: { total: line.data.total, ...data } } : line,
      )
      assert.equal(fault?.sequence, sequenceOf('approved'))
    }
    const { fault } = await verified((line) => (line.kind === 'passkey-added' ? { ...line, data: {} } : line))
    assert.match(String(fault?.reason), /its data is not/)
  })
})
