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
/** From the headers of a request to the last byte of its answer. An answer that takes longer is not being read. */
export const exchangeLimitMilliseconds = 120_000
const lookIntervalMilliseconds = 2_000
/** Answers of this size count until they have been read. What one caller has not read may be so many bytes. */
const largeBytes = 64 * 1024
export const unreadLimitBytes = 32 * 1024 * 1024

interface Connection {
  /** The one answer that is under way, and since when on the monotonic clock. */
  current: ServerResponse | undefined
  startedAt: number
  waiting: { answer: ServerResponse; begin: () => void }[]
}

const bySocket = new WeakMap<Socket, Connection>()

/** The answer under way on the connection. */
export function answerOn(socket: Socket): ServerResponse | undefined {
  return bySocket.get(socket)?.current
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
  const connections = new Map<Socket, Connection>()

  function connectionOf(socket: Socket): Connection {
    const known = connections.get(socket)
    if (known !== undefined) return known
    const made: Connection = { current: undefined, startedAt: 0, waiting: [] }
    connections.set(socket, made)
    bySocket.set(socket, made)
    socket.once('close', () => connections.delete(socket))
    return made
  }

  function begin(connection: Connection, answer: ServerResponse): void {
    connection.current = answer
    connection.startedAt = monotonic()
  }

  app.addHook('onRequest', (request, reply, done) => {
    if (request.raw.socket.destroyed) return
    const connection = connectionOf(request.raw.socket)
    if (connection.current === undefined) {
      begin(connection, reply.raw)
      done()
    } else if (connection.waiting.length < waitingLimit) {
      connection.waiting.push({ answer: reply.raw, begin: done })
    } else {
      // Nothing that arrived with it is begun: nobody would get the answer.
      request.raw.socket.destroy()
    }
  })
  app.addHook('onResponse', (request, reply, done) => {
    const connection = connections.get(request.raw.socket)
    if (connection !== undefined && connection.current === reply.raw) {
      const next = connection.waiting.shift()
      connection.current = undefined
      // A connection that ends with this answer sends no other.
      if (next !== undefined && request.raw.socket.writable) {
        begin(connection, next.answer)
        next.begin()
      }
    }
    done()
  })

  const looking = setInterval(() => {
    const earliest = monotonic() - limit
    for (const [socket, { current, startedAt }] of connections) {
      if (current !== undefined && startedAt < earliest) socket.destroy()
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
