// engine: both
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { LogLine } from '../../proof/line.ts'
import { verifyLog } from '../../proof/log.ts'
import { sealedLine } from '../../server/audit/audit.ts'
import { rulesOf } from '../../server/orders/rules.ts'
import { machineOf, newCaller, newClient, newUser } from '../support/accounts.ts'
import { storedEvents } from '../support/kept-log.ts'
import { exportOf, inPortions, makeLog, plainEvent, seal } from '../support/log.ts'
import { createdId } from '../support/orders.ts'
import { approve, policyRow, putPolicy } from '../support/policy.ts'
import { addRole } from '../support/roles.ts'
import { setUp, testService } from '../support/service.ts'

describe('the line of a creation', () => {
  const service = testService({})
  const operator = setUp(() => service.bearer('operator'))
  const admin = setUp(() => service.bearer('admin'))

  async function linesOf(id: string): Promise<LogLine[]> {
    await seal(service.db)
    const events = await storedEvents(service.db.read, id)
    return events.map((event) =>
      sealedLine({ ...event, sequence: Number(event.sequence), hash: String(event.hash) }),
    )
  }
  const dataOf = async (id: string) => (await linesOf(id)).map(({ data }) => data)

  async function storedOrder(id: string) {
    return service.db.read.selectFrom('orders').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
  }

  it('has the rules of the order, whatever the policy is where it stands', async () => {
    const strict = policyRow({ approvals: 2, passkey: true })
    const writing = { now: true }
    const ids: string[] = []
    const creating = Array.from({ length: 6 }, async () => {
      while (writing.now) ids.push(await createdId(operator))
    })
    for (let turn = 0; turn < 20; turn += 1) await putPolicy(service, [turn % 2 === 0 ? strict : policyRow()])
    writing.now = false
    await Promise.all(creating)
    assert.ok(ids.length >= 6, String(ids.length))
    for (const id of ids) {
      const [data] = await dataOf(id)
      const { number, ...order } = await storedOrder(id)
      const { total } = data ?? {}
      assert.deepEqual(data, {
        total,
        number: Number(number),
        rules: rulesOf(order),
        ownerId: null,
      })
    }
  })

  it('names the owner of the client that created it, and each event of a program says so', async () => {
    const owner = await newUser(service, { roles: ['Viewer'] })
    const client = await newClient(service, ['Admin'], owner.id)
    const program = await machineOf(service, client)
    await putPolicy(service, [policyRow({ approvals: 2 })])
    const id = await createdId(program)
    assert.equal((await approve(program, id)).status, 204)
    assert.equal((await program.post(`/v1/orders/${id}/notes`, { text: 'Soon.' })).status, 201)
    assert.equal((await approve(admin, id)).status, 204)
    const data = await dataOf(id)
    assert.deepEqual(
      data.map(({ program: isProgram, ownerId }) => [isProgram, ownerId]),
      [
        [true, owner.id],
        [true, undefined],
        [true, undefined],
        [undefined, undefined],
      ],
    )
  })

  it('a decision has the role that the rules ask for, if the approver holds it', async () => {
    const role = await addRole(service, 'Finance', [])
    await putPolicy(service, [policyRow({ approvals: 2, role })])
    const id = await createdId(operator)
    const holder = await newCaller(service, ['Admin', role])
    assert.equal((await approve(admin, id)).status, 204)
    assert.equal((await approve(holder, id)).status, 204)
    assert.deepEqual(
      (await dataOf(id)).map(({ role: held }) => held),
      [undefined, undefined, role],
    )
  })
})

describe('verifyLog', () => {
  const rows = (passkey: boolean) => ({ rows: [{ ...policyRow({ passkey }), from: '0' }] })
  const log = (passkey: boolean) => {
    const created = {
      customer: 'Acme',
      total: '12.5',
      number: 1,
      ownerId: null,
      rules: policyRow({ passkey }),
    }
    const subject = { kind: 'policy', id: 'approval' }
    const plain = plainEvent
    return makeLog([
      { ...plain, id: 'one', kind: 'policy-set', subject, data: rows(!passkey) },
      { ...plain, id: 'two', kind: 'created', data: created },
      { ...plain, id: 'three', kind: 'approved', version: 2 },
    ])
  }

  it('judges an approval by the line of the creation, not by the last policy-set before it', async () => {
    for (const passkey of [true, false]) {
      const { fault } = await verifyLog(inPortions(exportOf(log(passkey))))
      const reason = 'the rules of the order ask for a signature'
      assert.deepEqual(fault, passkey ? { sequence: 3, reason } : null)
    }
  })
})
