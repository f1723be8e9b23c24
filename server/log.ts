import { createWriteStream, fstatSync, writeSync } from 'node:fs'
import type { Writable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import { pino } from 'pino'
import { formatInstant, systemClock } from './clock.ts'
import type { Config } from './config.ts'

let formattedAt = 0
let formatted = ''

/**
 * The timestamp of a line (RFC 3339) in pino's form. All lines of one millisecond share its text: under load
 * a request's line takes 0.5 µs instead of 1.7.
 */
function timestampMember(): string {
  const now = systemClock()
  if (now !== formattedAt) {
    formattedAt = now
    formatted = `,"time":"${formatInstant(now)}"`
  }
  return formatted
}

/** How many lines were left out: those of successful requests, and all others. */
interface LeftOut {
  requests: number
  events: number
}

interface LogOutput {
  write(line: string): void
  /** For lines that are left out first when there is no room for all. */
  writeIfRoom?(line: string): void
  /** Since the start. */
  leftOut?: LeftOut
  /** Resolves when everything has been written, or after `milliseconds`. */
  drained?(milliseconds: number): Promise<void>
}

/** A logger that can also write a whole line, at half the cost of pino's own way. */
export type Log = pino.Logger & {
  writeLine(level: pino.Level, members: object, options?: { ifRoom: boolean }): void
  output: LogOutput
}

export function makeLog(options: pino.LoggerOptions, output: LogOutput): Log {
  const log = pino({ base: null, timestamp: timestampMember, ...options }, output)
  function writeLine(level: pino.Level, members: object, { ifRoom } = { ifRoom: false }): void {
    const line = `{"level":${pino.levels.values[level]}${timestampMember()},${JSON.stringify(members).slice(1)}\n`
    if (ifRoom && output.writeIfRoom !== undefined) output.writeIfRoom(line)
    else output.write(line)
  }
  return Object.assign(log, { writeLine, output })
}

const batchBytes = 8 * 1024
const flushIntervalMilliseconds = 200
/** How much may wait for the reader of the log. Beyond that, lines of requests are left out. */
const roomBytes = 4 * 1024 * 1024
/** The same for all other lines: warnings, security events, refusals. */
const reserveBytes = 32 * 1024 * 1024

/**
 * Writes lines to standard output in batches, at least five times a second: a system call for each would cost
 * more than the line. Neither the event loop nor the end of the process waits for the reader.
 */
class StandardOutput implements LogOutput {
  readonly leftOut: LeftOut = { requests: 0, events: 0 }
  /** Called once there is room again. */
  onRoom: (leftOut: LeftOut) => void = () => undefined
  readonly #stream: Writable
  #batch = ''
  #reported: LeftOut = { requests: 0, events: 0 }

  constructor() {
    // Node's stream does not block on a pipe or a socket. On a file it would block the event loop.
    this.#stream = fstatSync(1).isFile() ? createWriteStream('', { fd: 1, autoClose: false }) : process.stdout
    // If the reader leaves, the service continues.
    this.#stream.on('error', () => undefined)
    setInterval(() => this.#flush(), flushIntervalMilliseconds).unref()
    process.once('exit', () => this.#writeLast())
  }

  write(line: string): void {
    this.#add(line, reserveBytes, 'events')
  }

  writeIfRoom(line: string): void {
    this.#add(line, roomBytes, 'requests')
  }

  async drained(milliseconds: number): Promise<void> {
    const end = performance.now() + milliseconds
    this.#flush()
    while (this.#stream.writableLength > 0 && performance.now() < end) await wait(10)
  }

  #add(line: string, limitBytes: number, kind: keyof LeftOut): void {
    if (this.#stream.writableLength + this.#batch.length > limitBytes) {
      this.leftOut[kind] += 1
      return
    }
    this.#batch += line
    if (this.#batch.length >= batchBytes) this.#flush()
  }

  #flush(): void {
    if (this.#batch !== '') this.#stream.write(this.#batch, () => this.#reportLeftOut())
    this.#batch = ''
  }

  #reportLeftOut(): void {
    const requests = this.leftOut.requests - this.#reported.requests
    const events = this.leftOut.events - this.#reported.events
    if (requests + events === 0 || this.#stream.writableLength > roomBytes / 2) return
    this.#reported = { ...this.leftOut }
    this.onRoom({ requests, events })
  }

  /** Writes what can still be written without waiting. */
  #writeLast(): void {
    if (this.#stream.writableLength > 0 || this.#batch === '') return
    try {
      writeSync(1, this.#batch)
    } catch {
      // The reader has left.
    }
  }
}

/** Writes JSON lines to standard output, or readable ones to a terminal. */
export async function createLog({ logLevel: level }: Pick<Config, 'logLevel'>): Promise<Log> {
  const options = { level }
  if (process.stdout.isTTY) {
    const { default: pretty } = await import('pino-pretty')
    return makeLog(options, pretty({ ignore: 'requestId', singleLine: true, translateTime: 'HH:MM:ss.l' }))
  }
  const output = new StandardOutput()
  const log = makeLog(options, output)
  output.onRoom = (leftOut) =>
    log.warn(
      { event: 'log-left-out', ...leftOut },
      'lines were left out: the reader of the log did not keep up',
    )
  return log
}
