import assert from 'node:assert/strict'
import { readCheckpoint, readNote } from '../../proof/note.ts'
import { isSelected } from '../../server/outbox/outbox.ts'
import { type Received, type Receiver, startReceiver } from '../support/webhooks.ts'
import type { Model } from './model.ts'
import type { Task } from './task.ts'

type After = { after(hook: () => unknown): void }

/** A webhook as its receiver knows it. */
export interface Hook {
  id: string
  version: number
  events: string[]
  /** The sequence up to which it has every event that it asks for, in the order of the log. */
  place: number
  /** A replay was asked for, which may move the place forward again. */
  isReplayed: boolean
  /** Events up to this one may have been on their way when the place was moved. */
  late: number
  /** The work that brought an event, and whether it heard that the event was taken. */
  taken: Map<number, { by: Task | undefined; isHeard: boolean }>
}

/** How a receiver answers, besides that it takes the message. */
export const answers = ['take', 'fail', 'fail', 'busy', 'break', 'take and break', 'gone'] as const

/** Two receivers of webhooks, each with what it knows. */
export class Receivers {
  readonly urls: string[] = []
  readonly hooks = new Map<string, Hook>()
  /** The next answers of each. */
  readonly next: (typeof answers)[number][][] = [[], []]
  /** Faults that were found while a message was handled. */
  readonly faults: unknown[] = []
  readonly #model: Model
  /** The work that sends now: a message names none. */
  sending: Task | undefined

  constructor(model: Model) {
    this.#model = model
  }

  async start(t: After): Promise<void> {
    for (const next of this.next) {
      const receiver = await startReceiver(t)
      receiver.answer = this.#answering(next)
      this.urls.push(receiver.url)
    }
  }

  #answering(next: (typeof answers)[number][]): Receiver['answer'] {
    return (message, response, request) => {
      const answer = next.shift() ?? 'take'
      const isTaken = answer === 'take' || answer === 'take and break'
      try {
        this.#arrived(message, isTaken, answer === 'take')
      } catch (error) {
        this.faults.push(error)
      }
      if (answer === 'break' || answer === 'take and break') return request.socket.destroy()
      if (answer === 'busy') return response.writeHead(429, { 'retry-after': '64' }).end()
      if (answer === 'gone') return response.writeHead(410).end()
      return response.writeHead(answer === 'fail' ? 500 : 204).end()
    }
  }

  /** Nothing comes before the event before it was taken, and nothing twice without a reason. */
  #arrived({ headers, text, sequence = 0 }: Received, isTaken: boolean, isHeard: boolean): void {
    const { checkpoint, data } = JSON.parse(text)
    // A replay has its number behind the id of the event.
    const [id, number = 0] = [headers['webhook-id']?.replace(/_\d+$/, ''), sequence]
    const event = this.#model.log[number - 1]
    assert.equal(event?.id, id, 'an event that is not sealed, or that is another one')
    assert.equal(data.id, event?.subject_id)
    const { size, root } = readCheckpoint(readNote(checkpoint).text)
    assert.ok(size >= number, 'a checkpoint that does not cover its event')
    assert.equal(Buffer.from(root).toString('hex'), this.#model.roots[size], 'a checkpoint of another log')
    const hook = this.hooks.get(this.to)
    if (hook === undefined) {
      assert.ok(this.sending?.isDisturbed, 'a webhook that is not there was sent to')
      return
    }
    const due = this.due(hook)
    if (due !== undefined && number > due) {
      assert.ok(number <= hook.late && this.sending?.isDisturbed, `${number} came before ${due} was taken`)
      return
    }
    const before = hook.taken.get(number)
    const isRepeated = number < (due ?? Number.POSITIVE_INFINITY)
    const wasDisturbed = [before?.by, this.sending].some((task) => task?.isDisturbed !== false)
    const mayRepeat = before === undefined || !before.isHeard || wasDisturbed
    assert.ok(!isRepeated || mayRepeat, `${number} came again, although it was taken`)
    if (!isTaken) return
    hook.taken.set(number, { by: this.sending, isHeard })
    hook.place = Math.max(hook.place, number)
  }

  /** The webhook that is sent to now. */
  to = ''

  /** The next event that a webhook waits for. */
  due({ place, events }: Hook): number | undefined {
    const event = this.#model.log.find(
      (each) => Number(each.sequence) > place && isSelected(events, each as never),
    )
    return event?.sequence ?? undefined
  }

  copy(): Hook[] {
    return [...this.hooks.values()].map((hook) => ({ ...hook, events: [...hook.events] }))
  }

  /** The webhooks are what they were at the backup. Everything since may come again. */
  goBack(kept: readonly Hook[]): void {
    this.hooks.clear()
    for (const hook of kept) this.hooks.set(hook.id, { ...hook, taken: new Map() })
  }
}
