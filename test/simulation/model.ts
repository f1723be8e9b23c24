import assert from 'node:assert/strict'
import { sql } from '#kysely'
import { LogTree } from '../../proof/log-tree.ts'
import type { AppDatabase } from '../../server/db/port.ts'
import type { Answer } from '../support/client.ts'
import type { LoggedEvent } from '../support/kept-log.ts'
import { type Asked, rightToApprove } from '../support/may-approve.ts'
import type { Task } from './task.ts'

/** How long an instance may remember what an account may do, and how much clocks differ. */
const memoryMilliseconds = 300_000 + 60_000

export interface Person {
  id: number
  name: string
  email: string
  isService: boolean
  owner?: number | undefined
  roles: Set<string>
  isEnabled: boolean
  absence?: { deputy: number; from: number; until: number } | undefined
  settings: { waiting: 'at-once' | 'daily' | 'never'; hour: number; decided: boolean; noted: boolean }
  /** When these settings were last chosen, and whether a daily mail waited then. */
  chosenAt: number
  formerWaits: boolean
  /** When any of this last changed: by the clock, and by the count of steps. */
  changedAt: number
  changedIn: number
}

export interface Row {
  from: number
  approvals: number
  selfApproval: boolean
  services: boolean
  role: string | null
  passkey: boolean
}

export interface Order {
  id: string
  customer: string
  creators: (number | null)[]
  rules: Omit<Row, 'from'>
  approvals: { by: number; right: number }[]
  isRoleHeld: boolean
  status: 'pending' | 'approved' | 'rejected' | 'withdrawn'
  version: number
  createdIn: number
}

export type RequestKind = 'create' | 'approve' | 'reject' | 'withdraw' | 'note'

/** Something that a caller wants once, however often it is sent. */
export interface Wish {
  kind: RequestKind
  by: Person
  /** The order; for a new one, its customer. */
  about: string
  text: string | null
  key: string | null
  total: number
  /** Its effect, and the step that brought it. */
  done?: { event: string; in: number } | undefined
}

/** One request for it. */
export interface Try {
  wish: Wish
  task: Task
  begunIn: number
  answer?: Answer
}

const kindOf: Record<string, RequestKind> = {
  created: 'create',
  approved: 'approve',
  'approval-given': 'approve',
  rejected: 'reject',
  withdrawn: 'withdraw',
  noted: 'note',
}
const conditions = [
  ...['service-approval', 'self-approval', 'role-needed', 'order-not-pending', 'already-approved-by-you'],
]

/** The promises of the service, in plain TypeScript. Each change is judged in the step that brought it. */
export class Model {
  readonly people: Person[]
  policy: Row[] = []
  orders = new Map<string, Order>()
  wishes: Wish[] = []
  tries: Try[] = []
  /** The sealed log, and the root of each size. */
  log: LoggedEvent[] = []
  roots: string[] = []
  era = 1
  step = 0
  /** The step in which each order was approved or rejected, and by whom. */
  readonly decided = new Map<string, { in: number; by: number }>()
  #waiting = new Map<string, LoggedEvent>()
  #tree = new LogTree()

  constructor(people: Person[]) {
    this.people = people
    this.roots.push(this.#tree.head.root)
  }

  person(id: number | null): Person {
    return this.people.find((each) => each.id === id) ?? assert.fail(`nobody has the id ${id}`)
  }

  /** As it is now, for a database that may go back to it. */
  copy() {
    const { orders, wishes, log, people, policy } = this
    return structuredClone({ orders, wishes, log, waiting: this.#waiting, people, policy })
  }

  /** The database went back to then. The line that says so comes with the next look. */
  goBack({ people, log, waiting, ...then }: ReturnType<Model['copy']>): void {
    const { orders, wishes, policy } = structuredClone(then)
    for (const [index, person] of people.entries()) Object.assign(this.people[index] ?? {}, person)
    const byName = (wish: Wish) => ({
      ...wish,
      by: this.people.find(({ id }) => id === wish.by.id) ?? wish.by,
    })
    Object.assign(this, { orders, policy, wishes: wishes.map(byName), tries: [] })
    for (const [id, { status }] of orders) if (status === 'pending') this.decided.delete(id)
    this.#tree = new LogTree()
    this.roots = [this.#tree.head.root]
    for (const { hash } of log) this.#grow(hash)
    this.log = [...log]
    this.#waiting = new Map(waiting)
    this.era += 1
  }

  #grow(hash: string | null): void {
    this.#tree.add(String(hash))
    this.roots.push(this.#tree.head.root)
  }

  /** Reads what the step has changed. */
  async look({ read }: Pick<AppDatabase, 'read'>): Promise<void> {
    const { rows: sealed } = await sql<LoggedEvent>`select * from events where sequence > ${this.log.length}
      order by sequence`.execute(read)
    const { rows: waiting } = await sql<LoggedEvent>`select * from unsealed_events order by number`.execute(
      read,
    )
    const { rows: heads } = await sql<{ size: number; root: string; era: number }>`select size, root, era
      from log_head`.execute(read)
    for (const event of sealed) {
      assert.equal(event.sequence, this.log.length + 1, 'the log has a gap')
      this.log.push(event)
      this.#grow(event.hash)
      if (!this.#waiting.delete(event.id)) this.#happened(event)
    }
    const { size, root, era } = heads[0] ?? assert.fail('no head')
    const { head } = this.#tree
    assert.deepEqual({ size: Number(size), root, era }, { ...head, era: this.era }, 'the head of the log')
    const lost = [...this.#waiting.keys()].filter((id) => !waiting.some((event) => event.id === id))
    assert.deepEqual(lost, [], 'an event was lost before it was sealed')
    for (const event of waiting) {
      if (this.#waiting.has(event.id)) continue
      this.#waiting.set(event.id, event)
      this.#happened(event)
    }
    this.#judgeAnswers()
  }

  get waitingEvents(): number {
    return this.#waiting.size
  }

  isSealed(order: string, kinds: string[]): boolean {
    return this.log.some(({ subject_id: id, kind }) => id === order && kinds.includes(kind))
  }

  #happened(event: LoggedEvent): void {
    const kind = kindOf[event.kind]
    if (event.subject_kind !== 'order' || kind === undefined) return
    const data = JSON.parse(event.data)
    const { customer, text } = JSON.parse(event.clear)
    const about = kind === 'create' ? customer.value : event.subject_id
    const isOpen = ({ wish }: Try) =>
      wish.kind === kind &&
      wish.about === about &&
      wish.by.id === event.by_id &&
      wish.done === undefined &&
      (kind !== 'note' || wish.text === text.value)
    const { wish } = this.tries.findLast(isOpen) ?? assert.fail(`nobody asked for ${event.kind} of ${about}`)
    wish.done = { event: event.subject_id, in: this.step }
    if (kind === 'create') this.#created(event, about, data)
    else this.#changed(event, kind)
  }

  #created(
    { subject_id: id, by_id: by }: LoggedEvent,
    customer: string,
    data: Record<string, unknown>,
  ): void {
    const { from: _, ...rules } =
      this.policy.findLast(({ from }) => from <= Number(data.total)) ?? assert.fail()
    assert.deepEqual(data.rules, rules, 'the rules of a new order')
    const creators = [by, this.person(by).owner ?? null]
    assert.equal(data.ownerId, creators[1])
    const fresh = {
      approvals: [],
      isRoleHeld: false,
      status: 'pending',
      version: 1,
      createdIn: this.step,
    } as const
    this.orders.set(id, { id, customer, creators, rules, ...fresh, approvals: [] })
  }

  #changed(event: LoggedEvent, kind: RequestKind): void {
    const order = this.orders.get(event.subject_id) ?? assert.fail('an order that nobody created')
    const by = this.person(event.by_id)
    assert.equal(event.version, order.version + (kind === 'note' ? 0 : 1), `${event.kind}: its version`)
    if (kind === 'note') return
    order.version += 1
    assert.equal(order.status, 'pending', `${event.kind} after ${order.status}`)
    if (kind === 'withdraw') assert.equal(order.creators[0], by.id)
    const right = event.for_id ?? by.id
    if (kind === 'reject') {
      const may = this.askedAt(event.at).filter(({ id, deputy }) => id === by.id || deputy === by.id)
      assert.ok(
        may.some(({ id, mayApprove }) => id === right && mayApprove),
        `${by.name} may not reject`,
      )
    }
    order.status = kind === 'reject' ? 'rejected' : kind === 'withdraw' ? 'withdrawn' : 'pending'
    if (kind === 'reject') this.decided.set(order.id, { in: this.step, by: by.id })
    if (kind !== 'approve') return
    assert.ok(this.rightsOf(by, order, event.at).includes(right), `${by.name} may not approve for ${right}`)
    order.approvals.push({ by: by.id, right })
    order.isRoleHeld ||= order.rules.role !== null && this.person(right).roles.has(order.rules.role)
    if (order.approvals.length === order.rules.approvals) order.status = 'approved'
    if (order.status === 'approved') this.decided.set(order.id, { in: this.step, by: by.id })
    assert.equal(event.kind, order.status === 'approved' ? 'approved' : 'approval-given')
  }

  askedAt(at: number): Asked[] {
    return this.people.map(({ id, isService, isEnabled, owner, roles, absence }) => ({
      ...{ id, isService, isEnabled, owner, roles: [...roles], hasPasskey: false, isPermitted: true },
      mayApprove: roles.has('Approver') || roles.has('Admin'),
      deputy: absence && absence.from <= at && at < absence.until ? absence.deputy : undefined,
    }))
  }

  /** In whose right the person may approve the order. An instance may not know yet what they got. */
  rightsOf(by: Person, order: Order, at: number): (number | undefined)[] {
    const asked = this.askedAt(at)
    const caller = asked.find(({ id }) => id === by.id) ?? assert.fail()
    const { rules, isRoleHeld, creators, approvals, status } = order
    const question = {
      ...{ isPending: status === 'pending', approvalsNeeded: rules.approvals, isPasskeyNeeded: false },
      ...{ selfApproval: rules.selfApproval, serviceApproval: rules.services, roleNeeded: rules.role },
      ...{ isRoleHeld, creators, approvals },
    }
    const mayBeOld = at - by.changedAt < memoryMilliseconds
    return [true, ...(mayBeOld ? [false] : [])].map((isPermitted) =>
      rightToApprove(asked, { ...caller, isPermitted }, question),
    )
  }

  /** Of requests that have ended, and of no others, the answer is known. */
  #judgeAnswers(): void {
    for (const made of this.tries) if (!made.task.isRunning) this.#judge(made)
    this.tries = this.tries.filter(({ task }) => task.isRunning)
  }

  #judge({ wish, task, begunIn, answer }: Try): void {
    if (answer === undefined || task.life.isOver) return
    const { status, headers, body, text } = answer
    const { done } = wish
    const what = `${wish.kind} of ${wish.about} by ${wish.by.name} was answered ${status} ${body?.code ?? ''}`
    assert.notEqual(status, 500, `${what}: ${text}`)
    const isReplayed = headers.get('idempotency-replayed') === 'true'
    if (status < 300) {
      assert.ok(done, `${what}, but it is not there`)
      assert.equal(isReplayed, done.in < begunIn || (isReplayed && wish.key !== null), `${what}: replayed`)
      if (wish.kind === 'create') assert.equal(body.id, done.event, what)
      return
    }
    const isAlone = this.tries.every((other) => other.wish !== wish || other.task === task)
    const mayBeOld = ['permission-denied', 'authentication-required'].includes(body?.code)
    if (status === 503 || mayBeOld || !isAlone) return
    assert.ok(done === undefined || done.in < begunIn, `${what}, but it was done`)
    assert.ok(done === undefined, `${what}, but an earlier request with its key was done`)
    const order = this.orders.get(wish.about)
    if (
      wish.kind !== 'approve' ||
      order === undefined ||
      task.isDisturbed ||
      !conditions.includes(body?.code)
    )
      return
    const rights = this.rightsOf(wish.by, order, task.at)
    assert.ok(rights.includes(undefined), `${what}, but may approve it`)
  }
}
