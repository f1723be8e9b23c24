import assert from 'node:assert/strict'
import { after } from 'node:test'
import { machineStamp } from '../../server/caller/stamp.ts'
import { Fault } from '../../server/http/fields.ts'
import { policyRows } from '../../server/orders/policy/schemas.ts'
import { newUser, type TestUser, tokenPair } from './accounts.ts'
import type { Answer, Client } from './client.ts'
import { storedEvents } from './kept-log.ts'
import type { Service } from './service.ts'

interface Row {
  from: number | string
  approvals: number
  selfApproval: boolean
  services: boolean
  role?: string | null
  passkey?: boolean
}

/** From 0, one approval, by anyone. */
export function policyRow(given: Partial<Row> = {}): Row {
  return { from: 0, approvals: 1, selfApproval: true, services: true, role: null, passkey: false, ...given }
}

/** The policy of a new database. */
export const firstPolicy = [policyRow()]

/** Replaces the policy, whatever it is, as a command does: without a recent sign-in. */
export async function putPolicy(service: Service, given: Row[]): Promise<void> {
  const rows = policyRows.read(given)
  if (rows instanceof Fault) return assert.fail(rows.detail)
  const stamp = machineStamp(service.now())
  await service.db.write('setApprovalPolicy', { rows, acceptedVersions: null, stamp, idempotency: null })
}

/** Restores the first policy after the describe that calls this in its body. */
export function putsPolicyBack(service: Service): void {
  after(() => putPolicy(service, firstPolicy))
}

/** Events of the policy in the order of writing, sealed or not. */
export async function policyEvents({ db }: Service) {
  const events = await storedEvents(db.read, 'approval')
  return events.map(({ id, kind, version, at, at_time_zone, by, by_id, data }) => {
    return { id, kind, version, at, at_time_zone, by, by_id, data }
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

const hour = 3_600_000

/** From now for an hour, or between these times from now. */
export function setAbsence(
  { db, now }: Service,
  absent: TestUser,
  deputy: { id: number },
  { from, until } = { from: 0, until: hour },
) {
  const [person, stamp] = [{ id: absent.id, name: absent.userName }, machineStamp(now())]
  const absence = { from: now() + from, until: now() + until, deputyId: deputy.id }
  return db.write('setAbsence', { person, absence, stamp })
}

export function endAbsence({ db, now }: Service, { id, userName: name }: TestUser) {
  return db.write('endAbsence', { person: { id, name }, stamp: machineStamp(now()) })
}

export function approve(caller: Client, id: string, headers: Record<string, string> = {}): Promise<Answer> {
  return caller.patch(`/v1/orders/${id}/approve`, undefined, headers)
}

/** What is stored about an order's approvals: state, counter, who took part, events. */
export async function approvalState({ db }: Service, id: string) {
  const order = await db.read
    .selectFrom('orders')
    .select(['status', 'version', 'approvals_needed', 'approvals_given'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  const accounts = await db.read
    .selectFrom('order_approvals')
    .select('account_id')
    .where('order_id', '=', id)
    .orderBy('account_id')
    .execute()
  const events = await storedEvents(db.read, id)
  const approvals = events.filter(({ kind }) => kind === 'approval-given' || kind === 'approved')
  return {
    ...order,
    approvers: accounts.map(({ account_id: account }) => account),
    events: approvals.map(({ kind, version, by_id }) => ({ kind, version, by_id })),
  }
}
