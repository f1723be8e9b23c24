import assert from 'node:assert/strict'
import type { Letter } from '../../server/mail/smtp.ts'
import type { Model, Person } from './model.ts'
import { Task } from './task.ts'

const hour = 3_600_000

interface Taken {
  kind: 'decided' | 'waiting' | 'daily'
  to: Person
  orders: string[]
  at: number
  by: Task | undefined
  isHeard: boolean
  /** Before a restore. */
  isOld: boolean
}

/** How the mail server answers, besides that it takes the letter. */
export const mailAnswers = ['refuse', 'break', 'take and break'] as const

/** A mail server, and which letters there may be: each to someone who may have it, and once. */
export class Letters {
  readonly taken: Taken[] = []
  readonly next: (typeof mailAnswers)[number][] = []
  readonly faults: unknown[] = []
  readonly #model: Model
  readonly #now: () => number

  constructor(model: Model, now: () => number) {
    this.#model = model
    this.#now = now
  }

  async send({ email, message }: Letter): Promise<void> {
    const answer = this.next.shift()
    if (answer === 'refuse')
      throw Object.assign(new Error('refused'), { code: 'EENVELOPE', responseCode: 450 })
    if (answer === 'break') throw Object.assign(new Error('broken'), { code: 'ECONNECTION' })
    try {
      this.#take(email, message.subject, message.blocks, answer === undefined)
    } catch (error) {
      this.faults.push(error)
    }
    if (answer !== undefined) throw Object.assign(new Error('broken'), { code: 'ECONNECTION' })
  }

  #take(email: string, subject: string, blocks: Letter['message']['blocks'], isHeard: boolean): void {
    const to = this.#model.people.find((person) => person.email === email) ?? assert.fail(`mail to ${email}`)
    const lines = blocks.flatMap((block) =>
      typeof block === 'object' && 'items' in block ? block.items : [],
    )
    const orders = lines.map((line) => this.#orderOf(line)).filter((id) => id !== undefined)
    const isDaily = blocks.some((block) => typeof block === 'string' && block.startsWith('As of'))
    const kind = /was (approved|rejected)$/.test(subject) ? 'decided' : isDaily ? 'daily' : 'waiting'
    const letter = { kind, to, orders, at: this.#now(), by: Task.current, isHeard, isOld: false } as const
    const what = `${kind} mail to ${to.name} about ${lines.join('; ')}`
    assert.ok(orders.length > 0 || lines.length > 20, what)
    if (Task.current?.isDisturbed !== true) this.#mayHave(letter, what)
    if (kind === 'decided') {
      assert.ok(
        this.#model.isSealed(orders[0] ?? '', ['approved', 'rejected']),
        `${what}, before it was sealed`,
      )
    } else if (kind === 'waiting') {
      for (const id of orders)
        assert.ok(this.#model.isSealed(id, ['created']), `${what}, before it was sealed`)
    }
    const same = this.taken.filter((each) => !each.isOld && each.kind === kind && each.to === to)
    const before =
      kind === 'decided'
        ? same.filter((each) => each.orders[0] === orders[0])
        : this.#ofThisHour(to, same).filter((each) => letter.at - each.at < 20 * hour)
    const isOnce = before.every(({ by, isHeard: was }) => !was || by?.isDisturbed === true)
    assert.ok(kind === 'waiting' || isOnce, `${what}, again`)
    this.taken.push({ ...letter, orders })
  }

  /** Not the one that waited when the hour was chosen. */
  #ofThisHour(to: Person, daily: Taken[]): Taken[] {
    return daily.filter(({ at }) => at >= to.chosenAt).slice(to.formerWaits ? 1 : 0)
  }

  /** A list in a mail ends with how many more there are. */
  #orderOf(line: string): string | undefined {
    if (line.startsWith('and ')) return undefined
    const customer = /^#\d+ (.+), [\d.,]+$/.exec(line)?.[1]
    const found = [...this.#model.orders.values()].find((order) => order.customer === customer)
    return found?.id ?? assert.fail(`mail about ${line}`)
  }

  #mayHave({ kind, to, orders }: Pick<Taken, 'kind' | 'to' | 'orders'>, what: string): void {
    assert.ok(this.isReader(to), `${what}, who may not read orders`)
    const { waiting, decided } = to.settings
    assert.ok(
      { decided, waiting: waiting === 'at-once', daily: waiting === 'daily' }[kind],
      `${what}, unasked`,
    )
    for (const id of orders) {
      const order = this.#model.orders.get(id) ?? assert.fail()
      if (kind === 'decided') assert.ok(['approved', 'rejected'].includes(order.status), what)
      // A clock may be behind, so the absence of a moment ago may count.
      else if (!this.#mayApprove(to, id)) assert.fail(`${what}, which they may not approve`)
    }
  }

  #mayApprove(to: Person, id: string): boolean {
    const order = this.#model.orders.get(id) ?? assert.fail()
    const times = [0, 30_000, 60_000].map((ahead) => this.#now() + ahead)
    return times.some((at) => this.#model.rightsOf(to, order, at).some((right) => right !== undefined))
  }

  isReader({ isEnabled, roles }: Person): boolean {
    return isEnabled && ['Admin', 'Operator', 'Approver'].some((role) => roles.has(role))
  }

  goBack(): void {
    for (const letter of this.taken) letter.isOld = true
  }

  /** Once everything is sent: everyone who waited for mail all the time has it. */
  assertComplete(digestsSince: number): void {
    for (const person of this.#model.people.filter((each) => !each.isService && this.isReader(each))) {
      const has = (kind: Taken['kind'], id?: string) =>
        this.taken.some(
          (letter) =>
            letter.kind === kind &&
            letter.to === person &&
            (id === undefined ? letter.at >= digestsSince : letter.orders.includes(id)),
        )
      for (const { id, creators, customer, createdIn } of this.#model.orders.values()) {
        const decided = this.#model.decided.get(id)
        const isOwn = creators.includes(person.id) && person.settings.decided && decided?.by !== person.id
        if (isOwn && decided !== undefined && person.changedIn < decided.in) {
          assert.ok(has('decided', id), `${person.name} was not mailed about ${customer}`)
        }
        const waits = person.settings.waiting === 'at-once' && person.changedIn < createdIn
        if (waits && this.#couldApprove(person, id)) {
          assert.ok(has('waiting', id), `${person.name} was not mailed that ${customer} waits`)
        }
      }
      const isDaily = person.settings.waiting === 'daily'
      const due = [...this.#model.orders.keys()].some((id) => this.#couldApprove(person, id))
      if (isDaily && due) assert.ok(has('daily'), `${person.name} got no daily mail`)
    }
  }

  /** Ever since it was created, without a deputy. */
  #couldApprove(person: Person, id: string): boolean {
    const order = this.#model.orders.get(id) ?? assert.fail()
    if (person.roles.has('Approver') === false && person.roles.has('Admin') === false) return false
    return this.#model.rightsOf(person, order, 0)[0] === person.id
  }
}
