import type { SealedEvent } from '../../audit/audit.ts'
import type { Clock } from '../../clock.ts'
import { formatInstant } from '../../clock.ts'
import { whyUnreachable } from '../../names.ts'
import type { Courier } from '../outbox.ts'
import { messageIdOf, replayOf, typeOf } from '../outbox.ts'
import type { Report } from '../retries.ts'
import type { Subscription } from '../store.ts'
import type { Destinations } from './address.ts'
import { type Message, signedHeaders } from './keys.ts'
import { post } from './post.ts'

export interface WebhookParts {
  /** The key of WEBHOOK_KEY_FILE. */
  key: Buffer
  destinations: Destinations
  /** The newest checkpoint of the log. */
  checkpoint: () => Promise<string>
  /** The status of the order after this event; null if it is no event of an order. */
  statusAfter: (event: SealedEvent) => Promise<number | null>
  clock: Clock
  monotonic?: Clock
  timeLimitMilliseconds?: number
}

/** Sends webhooks by Standard Webhooks. */
export class WebhookCourier implements Courier {
  readonly #parts: WebhookParts

  constructor(parts: WebhookParts) {
    this.#parts = parts
  }

  async deliver(webhook: Subscription, event: SealedEvent, signal: AbortSignal): Promise<Report> {
    const status = await this.#parts.statusAfter(event)
    const { sequence, subject_id: id, version } = event
    const body = {
      type: typeOf(event),
      timestamp: formatInstant(event.at),
      // Absent if it is no replay.
      data: { id, version, status, sequence, replay: replayOf(webhook, event) },
      checkpoint: await this.#parts.checkpoint(),
    }
    return this.#send(webhook, { id: messageIdOf(webhook, event), body: JSON.stringify(body) }, signal)
  }

  /** Sends a trial that is no event of the log. */
  async ping(webhook: Subscription, id: string, signal: AbortSignal): Promise<Report> {
    const { clock, checkpoint } = this.#parts
    const body = {
      type: 'ping',
      timestamp: formatInstant(clock()),
      data: { id: webhook.id },
      checkpoint: await checkpoint(),
    }
    return this.#send(webhook, { id, body: JSON.stringify(body) }, signal)
  }

  async #send(webhook: Subscription, message: Message, signal: AbortSignal): Promise<Report> {
    const { key, clock, monotonic = () => performance.now(), ...options } = this.#parts
    const [at, began] = [clock(), monotonic()]
    const headers = {
      ...signedHeaders(key, webhook, message, at),
      'content-type': 'application/json',
    }
    const answer = await post(
      new URL(webhook.address),
      { headers, body: message.body },
      { ...options, signal },
    ).catch((error) => ({ reason: whyUnreachable(error).slice(0, shownCharacters) }))
    const attempt = { at, durationMilliseconds: Math.round(monotonic() - began) }
    if ('reason' in answer) return { ...attempt, status: null, failure: answer.reason, answer: null }
    const { status, retryAfterSeconds, body } = answer
    return {
      ...attempt,
      status,
      failure: status >= 200 && status < 300 ? null : `it answered ${status}`,
      answer: madeSafe(body),
      isGone: status === 410,
      wishedPause: retryAfterSeconds && retryAfterSeconds * 1000,
    }
  }
}

const shownCharacters = 200
/** Controls, and characters that reorder text: an answer must not deceive those who read it. */
const unsafe = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}]+/gu

function madeSafe(body: string): string {
  const safe = body.replaceAll(unsafe, ' ').replaceAll(/\s+/g, ' ').trim()
  return Array.from(safe).slice(0, shownCharacters).join('')
}
