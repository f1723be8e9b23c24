import assert from 'node:assert/strict'
import { Agent, get, type IncomingMessage } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { readPlace } from '../../proof/place.ts'
import type { Client } from './client.ts'

const limitMilliseconds = 20_000

/** A change of an order, as a stream reports it. */
export interface Told {
  sequence: number
  id: string
  kind: string
  version: number
  status: number
}

/** The live list as a caller receives it, parsed as server-sent events. */
export class Stream {
  readonly response: IncomingMessage
  readonly told: Told[] = []
  comments = 0
  /** How many `reset` events came. */
  resets = 0
  /** The Last-Event-ID that a browser would send. */
  lastEventId = ''
  /** How it ended. */
  end: 'whole' | 'cut' | undefined

  constructor(response: IncomingMessage) {
    this.response = response
    let text = ''
    response.setEncoding('utf8').on('data', (part: string) => {
      const blocks = (text + part).split('\n\n')
      text = blocks.pop() ?? ''
      for (const block of blocks) this.#take(block)
    })
    response.on('end', () => {
      this.end = 'whole'
    })
    response
      .on('error', () => undefined)
      .on('close', () => {
        this.end ??= 'cut'
      })
  }

  #take(block: string): void {
    let data: string | undefined
    for (const line of block.split('\n')) {
      if (line.startsWith(':')) this.comments += 1
      if (line.startsWith('id: ')) this.lastEventId = line.slice(4)
      if (line.startsWith('data: ')) data = line.slice(6)
    }
    if (block.split('\n').includes('event: reset')) this.resets += 1
    else if (data !== undefined) this.told.push({ sequence: this.sequence, ...JSON.parse(data) })
  }

  /** Waits until the stream holds this many; fails when there are more, or after too long. */
  async hears(count: number): Promise<Told[]> {
    await until(() => this.told.length >= count)
    assert.equal(this.told.length, count)
    return this.told
  }

  /** The same for a single order, ignoring others. */
  async hearsOf(order: string, count: number): Promise<Told[]> {
    const ofOrder = () => this.told.filter(({ id }) => id === order)
    await until(() => ofOrder().length >= count)
    assert.equal(ofOrder().length, count)
    return ofOrder()
  }

  /** The sequence of its place in the log. */
  get sequence(): number {
    return readPlace(this.lastEventId).sequence
  }

  async ends(): Promise<'whole' | 'cut' | undefined> {
    await until(() => this.end !== undefined)
    return this.end
  }

  close(): void {
    this.response.destroy()
  }
}

/** A stream whose headers and first line have arrived, or the refusal. */
export async function openStream(caller: Client, headers: Record<string, string> = {}): Promise<Stream> {
  const cookie = [...caller.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const sent = { ...(cookie === '' ? {} : { cookie }), ...caller.headers, ...headers }
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const path = `${caller.baseUrl}/v1/orders/events`
    // Like a browser.
    get(path, { headers: sent, agent: new Agent({ keepAlive: true }) }, resolve).on('error', reject)
  })
  const stream = new Stream(response)
  if (response.statusCode === 200) await until(() => stream.lastEventId !== '')
  return stream
}

export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + limitMilliseconds
  while (!(await holds())) {
    if (performance.now() > end) assert.fail(`it did not hold within ${limitMilliseconds} ms`)
    await wait(20)
  }
}
