import assert from 'node:assert/strict'
import { listEvents } from '../../server/audit/events.ts'
import type { Client } from './client.ts'
import type { Service } from './service.ts'

interface Row {
  from: number | string
  approvals: number
  selfApproval: boolean
  services: boolean
}

/** From 0, one approval, of anybody. */
export function policyRow(given: Partial<Row> = {}): Row {
  return { from: 0, approvals: 1, selfApproval: true, services: true, ...given }
}

/** As a new database has it. */
export const firstPolicy = [policyRow()]

/** Replaces the policy, whatever it is. */
export async function putPolicy(caller: Client, rows: Row[]): Promise<void> {
  const answer = await caller.send('PUT', '/v1/approval-policy', { rows }, { 'if-match': '*' })
  assert.equal(answer.status, 204, answer.text)
}

/** What was recorded of the policy, in the order of writing, whether it is sealed by now or not. */
export async function policyEvents({ db }: Service) {
  const page = { direction: 'asc', offset: 0, limit: 1_000 } as const
  const { events } = await listEvents(db.read, { kind: 'policy', id: 'approval' }, page)
  return events.map(({ sequence: _, hash: __, ...written }) => written)
}

/** Everything that a change of the policy may write. */
export async function storedPolicy(service: Service) {
  const { read } = service.db
  return {
    rows: await read.selectFrom('approval_policy').selectAll().orderBy('from_e4').execute(),
    events: await policyEvents(service),
    keys: await read.selectFrom('idempotency_keys').selectAll().orderBy('key').execute(),
  }
}
