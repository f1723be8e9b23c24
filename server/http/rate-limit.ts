import { isIP, isIPv6 } from 'node:net'
import type { FastifyReply } from 'fastify'
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import type { RateLimits } from '../config.ts'
import { Problem, retryAfter } from './problems.ts'

const windowSeconds = 60

export type LimitName = Exclude<keyof RateLimits, 'factor'>

/**
 * Request limits, in the memory of each instance, in fixed windows of a minute that begin with the first request of
 * a key. Every limited answer tells the policy and what is left of it (draft-ietf-httpapi-ratelimit-headers-10).
 */
export class RequestLimits {
  readonly #limiters: Partial<Record<LimitName, RateLimiterMemory>> = {}

  constructor({ factor, ...limits }: RateLimits) {
    if (factor === 0) return
    for (const [name, perMinute] of Object.entries(limits) as [LimitName, number][]) {
      this.#limiters[name] = new RateLimiterMemory({
        keyPrefix: name,
        points: Math.max(1, Math.round(perMinute * factor)),
        duration: windowSeconds,
      })
    }
  }

  /** Counts one request; throws `rate-limited` when the key has none left. */
  async consume(name: LimitName, key: string, reply: FastifyReply): Promise<void> {
    const limiter = this.#limiters[name]
    if (limiter === undefined) return
    try {
      announce(reply, name, limiter.points, await limiter.consume(key))
    } catch (error) {
      if (!(error instanceof RateLimiterRes)) throw error
      announce(reply, name, limiter.points, error)
      throw new Problem('rate-limited', {
        detail: `At most ${limiter.points} requests in ${windowSeconds} seconds (${name}).`,
        headers: retryAfter(error.msBeforeNext),
      })
    }
  }
}

function announce(reply: FastifyReply, name: string, quota: number, state: RateLimiterRes): void {
  const secondsLeft = Math.ceil(state.msBeforeNext / 1000)
  reply.header('ratelimit-policy', `"${name}";q=${quota};w=${windowSeconds}`)
  reply.header('ratelimit', `"${name}";r=${state.remainingPoints};t=${secondsLeft}`)
}

/**
 * The address that a proxy reported, without the port that some add to it; the peer's own when it is no address at
 * all, so that nobody makes a new name for himself with every request.
 */
export function reportedAddress(reported: string, peer: string): string {
  const bare = /^\[(.+)\](?::\d+)?$/.exec(reported)?.[1] ?? /^([\d.]+):\d+$/.exec(reported)?.[1] ?? reported
  return isIP(bare) === 0 ? peer : bare
}

function dotted(high: number, low: number): string {
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.')
}

/** What limits by address count: IPv4 whole (also when mapped into IPv6), IPv6 by its /64 network. */
export function limitKey(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)
  if (mapped?.[1] !== undefined) return mapped[1]
  if (!isIPv6(address)) return address
  const [withoutZone = ''] = new URL(`http://[${address.split('%')[0]}]`).hostname.slice(1, -1).split('%')
  const hexMapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(withoutZone)
  if (hexMapped) return dotted(Number.parseInt(`${hexMapped[1]}`, 16), Number.parseInt(`${hexMapped[2]}`, 16))
  const [head = '', tail] = withoutZone.split('::')
  const before = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros =
    tail === undefined ? [] : Array<string>(Math.max(0, 8 - before.length - after.length)).fill('0')
  const groups = [...before, ...zeros, ...after].slice(0, 4)
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`
}
