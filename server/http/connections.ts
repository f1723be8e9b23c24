import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyRequest } from 'fastify'
import type { Clock } from '../clock.ts'
import { Problem, retryAfter } from './problems.ts'
import type { App } from './route.ts'

/**
 * Requests that may be sent ahead on a connection; one more ends it. Refusing them would not help: one packet holds
 * thousands, and Node keeps each for as long as the connection, answered or not.
 */
const waitingLimit = 32
/**
 * From the headers of a request, or the last portion of a stream, to the last byte of its answer. An answer that takes
 * longer is not being read.
 */
export const exchangeLimitMilliseconds = 120_000
const lookIntervalMilliseconds = 2_000
/** Answers of this size count until they have been read. What one caller has not read may be so many bytes. */
const largeBytes = 64 * 1024
export const unreadLimitBytes = 32 * 1024 * 1024

/** One connection, whose requests are answered one after the other. */
class Connection {
  readonly #monotonic: Clock
  readonly #waiting: { answer: ServerResponse; begin: () => void }[] = []
  /** The one answer that is under way, and since when on the monotonic clock. */
  current: ServerResponse | undefined
  startedAt = 0

  constructor(monotonic: Clock) {
    this.#monotonic = monotonic
  }

  /** Begins the answer, now or after those before it. False when too many wait already. */
  enter(answer: ServerResponse, begin: () => void): boolean {
    if (this.#waiting.length >= waitingLimit) return false
    this.#waiting.push({ answer, begin })
    if (this.current === undefined) this.#beginNext()
    return true
  }

  /** The answer under way makes progress. */
  keep(): void {
    this.startedAt = this.#monotonic()
  }

  leave(answer: ServerResponse, isWritable: boolean): void {
    if (answer !== this.current) return
    this.current = undefined
    // A connection that ends with this answer sends no other.
    if (isWritable) this.#beginNext()
    else this.#waiting.length = 0
  }

  #beginNext(): void {
    const next = this.#waiting.shift()
    if (next === undefined) return
    this.current = next.answer
    this.startedAt = this.#monotonic()
    next.begin()
  }
}

const bySocket = new WeakMap<Socket, Connection>()

/** The answer under way on the connection. */
export function answerOn(socket: Socket): ServerResponse | undefined {
  return bySocket.get(socket)?.current
}

/** For an answer that is sent in portions, when its caller takes the next. */
export function keepAnswering(socket: Socket): void {
  bySocket.get(socket)?.keep()
}

export interface ConnectionSettings {
  exchangeLimitMilliseconds?: number
  monotonic?: Clock
}

/**
 * Bounds what the service holds for a caller who does not read. Requests of one connection are answered one after the
 * other, so a connection holds one answer. An answer that is not read in time ends with its connection. Nobody with
 * large unread answers gets another large one (ADR 17).
 */
export function registerConnections(
  app: App,
  {
    exchangeLimitMilliseconds: limit = exchangeLimitMilliseconds,
    monotonic = () => performance.now(),
  }: ConnectionSettings = {},
): void {
  const sockets = new Set<Socket>()

  function connectionOf(socket: Socket): Connection {
    const known = bySocket.get(socket)
    if (known !== undefined) return known
    const made = new Connection(monotonic)
    bySocket.set(socket, made)
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    return made
  }

  app.addHook('onRequest', ({ raw: { socket } }, reply, done) => {
    // Nothing that arrived with one request too many is begun: nobody would get the answer.
    if (!socket.destroyed && !connectionOf(socket).enter(reply.raw, done)) socket.destroy()
  })
  app.addHook('onResponse', ({ raw: { socket } }, reply, done) => {
    bySocket.get(socket)?.leave(reply.raw, socket.writable)
    done()
  })

  const looking = setInterval(() => {
    const earliest = monotonic() - limit
    for (const socket of sockets) {
      const connection = bySocket.get(socket)
      if (connection?.current !== undefined && connection.startedAt < earliest) socket.destroy()
    }
  }, lookIntervalMilliseconds)
  looking.unref()
  app.addHook('onClose', async () => clearInterval(looking))

  limitUnread(app)
}

/** Counts by caller, else by address. */
function limitUnread(app: App): void {
  const unread = new Map<string, number>()

  app.addHook('onSend', (request, reply, payload, done) => {
    const bytes = typeof payload === 'string' || Buffer.isBuffer(payload) ? payload.length : 0
    // An answer whose caller has gone is thrown away and never closes.
    if (bytes < largeBytes || reply.raw.destroyed) return done(null, payload)
    const caller = callerOf(request)
    const before = unread.get(caller) ?? 0
    if (before > 0 && before + bytes > unreadLimitBytes) {
      return done(new Problem('overloaded', { headers: retryAfter(1_000) }))
    }
    unread.set(caller, before + bytes)
    reply.raw.once('close', () => {
      const left = (unread.get(caller) ?? 0) - bytes
      if (left > 0) unread.set(caller, left)
      else unread.delete(caller)
    })
    done(null, payload)
  })
}

function callerOf({ principal, clientAddress }: FastifyRequest): string {
  return principal === null ? clientAddress : String(principal.id)
}
