import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyRequest } from 'fastify'
import type { Clock } from '../clock.ts'
import { Problem, retryAfter } from '../problems/problems.ts'
import type { App } from './route.ts'

/**
 * Requests that a connection may send ahead. One more ends the connection: a refusal would not help, because
 * one packet holds thousands and Node keeps each as long as the connection.
 */
const waitingLimit = 32
/**
 * From the headers of a request, or the last batch of a stream, to the last byte of the answer. If it takes
 * longer, the caller is not reading.
 */
export const exchangeLimitMilliseconds = 120_000
const lookIntervalMilliseconds = 2_000
/** Answers of this size or more count until the caller has read them. */
const largeBytes = 64 * 1024
/** The most that one caller may leave unread. */
export const unreadLimitBytes = 32 * 1024 * 1024

/** Answers the requests of one connection one after another. */
class Connection {
  readonly #monotonic: Clock
  readonly #waiting: { answer: ServerResponse; begin: () => void }[] = []
  /** The current answer, and when it began on the monotonic clock. */
  current: ServerResponse | undefined
  startedAt = 0

  constructor(monotonic: Clock) {
    this.#monotonic = monotonic
  }

  /** Begins the answer, now or after the earlier ones. False if too many are waiting. */
  enter(answer: ServerResponse, begin: () => void): boolean {
    if (this.#waiting.length >= waitingLimit) return false
    this.#waiting.push({ answer, begin })
    if (this.current === undefined) this.#beginNext()
    return true
  }

  /** Call this when the current answer makes progress. */
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

const bySocket = new Map<Socket, Connection>()

export function answerOn(socket: Socket): ServerResponse | undefined {
  return bySocket.get(socket)?.current
}

/** Call it when the caller of a stream takes the next batch. */
export function keepAnswering(socket: Socket): void {
  bySocket.get(socket)?.keep()
}

const selfLimited = new WeakSet<IncomingMessage>()

/** Call it when the handler limits the time of the body, instead of the server. */
export function limitsItself(request: IncomingMessage): void {
  selfLimited.add(request)
}

/** Whether the handler limits the time of the body that is arriving now. */
export function isSelfLimited(answer: ServerResponse | undefined): boolean {
  return answer !== undefined && !answer.req.complete && selfLimited.has(answer.req)
}

/** Called at the end of the process, so that nobody takes an answer that is cut off for a complete one. */
export function resetAnswers(): void {
  for (const [socket, { current }] of bySocket) if (current?.headersSent) socket.resetAndDestroy()
}

export interface ConnectionSettings {
  exchangeLimitMilliseconds?: number
  monotonic?: Clock
}

/**
 * Bounds what the service holds for callers who do not read (ADR 17). A connection holds one answer: its
 * requests are answered one after another. An answer that is not read in time ends with its connection. A
 * caller with large unread answers gets no other large one.
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
    socket.once('close', () => {
      bySocket.delete(socket)
      sockets.delete(socket)
    })
    return made
  }

  app.addHook('onRequest', ({ raw: { socket } }, reply, done) => {
    // One request too many ends the connection, so no request on it is begun.
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
      if (connection?.current !== undefined && connection.startedAt < earliest) socket.resetAndDestroy()
    }
  }, lookIntervalMilliseconds)
  looking.unref()
  app.addHook('onClose', async () => clearInterval(looking))

  limitUnread(app)
}

/** Counts by caller, or by address if the caller is unknown. */
function limitUnread(app: App): void {
  const unread = new Map<string, number>()

  app.addHook('onSend', (request, reply, payload, done) => {
    const bytes = typeof payload === 'string' || Buffer.isBuffer(payload) ? payload.length : 0
    // If the caller has gone, the answer is discarded and never closes.
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
