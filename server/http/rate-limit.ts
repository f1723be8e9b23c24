import { isIP, isIPv6 } from 'node:net'
import type { FastifyReply } from 'fastify'
import type { Clock } from '../clock.ts'
import type { RateLimits } from '../config.ts'
import { Problem, retryAfter } from '../problems/problems.ts'
import type { App } from './route.ts'

const periodSeconds = 60
const periodMilliseconds = periodSeconds * 1000

export type LimitName = Exclude<keyof RateLimits, 'factor'>

/**
 * The most periods that a limit keeps. When full, it forgets at most the older half of them, so a flood costs
 * bounded memory.
 */
const periodsLimit = 200_000

/**
 * The first refusals of a period are answered at once, later ones are delayed. Without the delay, a flood of
 * nothing but 429s raised the p99 of others three to seven times (ADR 14).
 */
const promptRefusals = 100
const lateMilliseconds = 250
/**
 * How many answers may be delayed at the same time, because each holds its request. Others are sent at once.
 */
const waitingLimit = 10_000

interface Period {
  /** On the monotonic clock. */
  endsAt: number
  used: number
  refused: number
}

/**
 * Request limits in the memory of each instance. The period of a key is a minute from its first request.
 * Every limited answer states the policy and what is left of it (draft-ietf-httpapi-ratelimit-headers-10).
 */
export class RequestLimits {
  readonly #limits = new Map<LimitName, Limit>()
  readonly #late = new WeakSet<FastifyReply>()
  #waiting = 0

  /** `monotonic` in milliseconds: setting the time of day must not change a limit. */
  constructor({ factor, ...limits }: RateLimits, monotonic: Clock = () => performance.now()) {
    if (factor === 0) return
    for (const [name, perMinute] of Object.entries(limits) as [LimitName, number][]) {
      this.#limits.set(name, new Limit(name, Math.max(1, Math.round(perMinute * factor)), monotonic))
    }
  }

  /** Counts one request; throws `rate-limited` when the key has none left. */
  consume(name: LimitName, key: string, reply: FastifyReply): void {
    const limit = this.#limits.get(name)
    if (limit === undefined) return
    const refusal = limit.consume(key, reply)
    if (refusal === undefined) return
    if (refusal.isLate) this.#late.add(reply)
    throw refusal.problem
  }

  /** Delays the answers to callers that keep sending. */
  register(app: App): void {
    app.addHook('onSend', (_request, reply, payload, done) => {
      if (!this.#late.has(reply) || this.#waiting >= waitingLimit) return done(null, payload)
      this.#waiting += 1
      setTimeout(() => {
        this.#waiting -= 1
        done(null, payload)
      }, lateMilliseconds)
    })
  }
}

interface Refusal {
  problem: Problem
  isLate: boolean
}

class Limit {
  readonly #name: LimitName
  readonly #quota: number
  readonly #policy: string
  readonly #monotonic: Clock
  /**
   * Periods that began after `#rotatedAt`, and those that began in the minute or more before it. All others
   * are over.
   */
  #recent = new Map<string, Period>()
  #older = new Map<string, Period>()
  #rotatedAt: number

  constructor(name: LimitName, quota: number, monotonic: Clock) {
    this.#name = name
    this.#quota = quota
    this.#policy = `"${name}";q=${quota};w=${periodSeconds}`
    this.#monotonic = monotonic
    this.#rotatedAt = monotonic()
  }

  /** Returns the refusal if the key has no request left. */
  consume(key: string, reply: FastifyReply): Refusal | undefined {
    const now = this.#monotonic()
    const period = this.#periodOf(key, now)
    const milliseconds = period.endsAt - now
    const left = this.#quota - period.used
    if (left > 0) period.used += 1
    reply.header('ratelimit-policy', this.#policy)
    reply.header(
      'ratelimit',
      `"${this.#name}";r=${Math.max(0, left - 1)};t=${Math.ceil(milliseconds / 1000)}`,
    )
    if (left > 0) return undefined
    period.refused += 1
    const problem = new Problem('rate-limited', {
      detail: `At most ${this.#quota} requests in ${periodSeconds} seconds (${this.#name}).`,
      headers: retryAfter(milliseconds),
    })
    return { problem, isLate: period.refused > promptRefusals }
  }

  #periodOf(key: string, now: number): Period {
    if (now - this.#rotatedAt >= periodMilliseconds) this.#rotate(now)
    const known = this.#recent.get(key) ?? this.#older.get(key)
    if (known !== undefined && now < known.endsAt) return known
    if (this.#recent.size >= periodsLimit / 2) this.#rotate(now)
    const begun = { endsAt: now + periodMilliseconds, used: 0, refused: 0 }
    this.#recent.set(key, begun)
    return begun
  }

  #rotate(now: number): void {
    this.#older = this.#recent
    this.#recent = new Map()
    this.#rotatedAt = now
  }
}

/**
 * The address that a proxy reported, without the port that some proxies add. If that is not an address, the
 * peer's own is returned: otherwise a caller could make up a new name for each request.
 */
export function reportedAddress(reported: string, peer: string): string {
  if (reported === peer) return peer
  const bare = /^\[(.+)\](?::\d+)?$/.exec(reported)?.[1] ?? /^([\d.]+):\d+$/.exec(reported)?.[1] ?? reported
  return isIP(bare) === 0 ? peer : bare
}

function dotted(high: number, low: number): string {
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.')
}

/**
 * What address limits count by: an IPv4 address (also mapped into IPv6), or the /64 network of an IPv6
 * address.
 */
export function limitKey(address: string): string {
  if (!address.includes(':')) return address
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)
  if (mapped?.[1] !== undefined) return mapped[1]
  if (!isIPv6(address)) return address
  // In the form of RFC 5952, without a zone.
  const normal = new URL(`http://[${address.split('%')[0]}]`).hostname.slice(1, -1)
  const hexMapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(normal)
  if (hexMapped) return dotted(Number.parseInt(`${hexMapped[1]}`, 16), Number.parseInt(`${hexMapped[2]}`, 16))
  const [head = '', tail] = normal.split('::')
  const before = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? [] : Array<string>(8 - before.length - after.length).fill('0')
  return `${[...before, ...zeros, ...after].slice(0, 4).join(':')}::/64`
}
