import assert from 'node:assert/strict'
import { after } from 'node:test'
import { listEvents } from '../../server/audit/audit.ts'
import { newUser, type TestUser, tokenPair } from './accounts.ts'
import type { Answer, Client } from './client.ts'
import type { Service } from './service.ts'

interface Row {
  from: number | string
  approvals: number
  selfApproval: boolean
  services: boolean
}

/** From 0, one approval, by anyone. */
export function policyRow(given: Partial<Row> = {}): Row {
  return { from: 0, approvals: 1, selfApproval: true, services: true, ...given }
}

/** The policy of a new database. */
export const firstPolicy = [policyRow()]

/** Replaces the policy, whatever it is. */
export async function putPolicy(caller: Client, rows: Row[]): Promise<void> {
  const answer = await caller.send('PUT', '/v1/approval-policy', { rows }, { 'if-match': '*' })
  assert.equal(answer.status, 204, answer.text)
}

/** Restores the first policy after the describe that calls this in its body. */
export function putsPolicyBack(service: Service): void {
  after(async () => putPolicy(await service.bearer('admin'), firstPolicy))
}

/** Events of the policy in the order of writing, sealed or not. */
export async function policyEvents({ db }: Service) {
  const page = { direction: 'asc', offset: 0, limit: 1_000 } as const
  const { events } = await listEvents(db.read, { kind: 'policy', id: 'approval' }, page)
  return events.map(({ id, kind, version, at, at_time_zone, by_name, by_id, data }) => {
    return { id, kind, version, at, at_time_zone, by_name, by_id, data }
  })
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

/** A user who may do everything, as a caller: a colleague of `admin`. */
export async function newApprover(service: Service): Promise<{ user: TestUser; caller: Client }> {
  const user = await newUser(service, { roles: ['Admin'] })
  return { user, caller: service.client().withBearer((await tokenPair(service, user)).accessToken) }
}

/** One after the other: simultaneous sign-ins would wait too long for their hashes on a busy machine. */
export async function newApprovers(service: Service, count: number) {
  const people: Awaited<ReturnType<typeof newApprover>>[] = []
  while (people.length < count) people.push(await newApprover(service))
  return people
}

export function approve(caller: Client, id: string, headers: Record<string, string> = {}): Promise<Answer> {
  return caller.patch(`/v1/orders/${id}/approve`, undefined, headers)
}

/** What is stored about an order's approvals: state, counter, approvers, events. */
export async function approvalState({ db }: Service, id: string) {
  const order = await db.read
    .selectFrom('orders')
    .select(['status', 'version', 'approvals_needed', 'approvals_given'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  const approvers = await db.read
    .selectFrom('order_approvals')
    .select('approver_id')
    .where('order_id', '=', id)
    .orderBy('approver_id')
    .execute()
  const page = { direction: 'asc', offset: 0, limit: 1_000 } as const
  const { events } = await listEvents(db.read, { kind: 'order', id }, page)
  const approvals = events.filter(({ kind }) => kind === 'approval-given' || kind === 'approved')
  return {
    ...order,
    approvers: approvers.map(({ approver_id: approver }) => approver),
    events: approvals.map(({ kind, version, by_id }) => ({ kind, version, by_id })),
  }
}
