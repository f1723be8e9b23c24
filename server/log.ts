import { createWriteStream, fstatSync, writeSync } from 'node:fs'
import type { Writable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import { pino } from 'pino'
import { formatInstant, systemClock } from './clock.ts'
import type { Config } from './config.ts'

let formattedAt = 0
let formatted = ''

/**
 * The member that dates a line (RFC 3339), as pino takes it. All lines of one millisecond share its text: under load a
 * request's line takes 0.5 µs instead of 1.7.
 */
function timestampMember(): string {
  const now = systemClock()
  if (now !== formattedAt) {
    formattedAt = now
    formatted = `,"time":"${formatInstant(now)}"`
  }
  return formatted
}

/** Lines that were left out: of requests that were answered as they asked, and all others. */
interface LeftOut {
  requests: number
  events: number
}

/** Where lines go. */
interface LogOutput {
  write(line: string): void
  /** The same for a line that comes after all others when not every one can be kept. */
  writeIfRoom?(line: string): void
  /** Since the start. */
  leftOut?: LeftOut
  /** Resolves when everything has been taken, or after `milliseconds`. */
  drained?(milliseconds: number): Promise<void>
}

/** A logger that can also write a line as it is: pino's own way there costs twice as much. */
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

const portionBytes = 8 * 1024
const flushIntervalMilliseconds = 200
/** What may wait for the reader of the log; further requests are left out of it. */
const roomBytes = 4 * 1024 * 1024
/** The same for lines that no request displaces: warnings, security events, refusals. */
const reserveBytes = 32 * 1024 * 1024

/**
 * Lines on standard output, written together, at least five times a second: a system call for each would cost
 * more than the line. Nothing waits for who reads them, neither the event loop nor the end of the process.
 */
class StandardOutput implements LogOutput {
  readonly leftOut: LeftOut = { requests: 0, events: 0 }
  /** Told once there is room again. */
  onRoom: (leftOut: LeftOut) => void = () => undefined
  readonly #stream: Writable
  #portion = ''
  #told: LeftOut = { requests: 0, events: 0 }

  constructor() {
    // Of a pipe or a socket Node's stream waits for nobody; of a file it would hold the event loop.
    this.#stream = fstatSync(1).isFile() ? createWriteStream('', { fd: 1, autoClose: false }) : process.stdout
    // The reader may leave; the service goes on.
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
    if (this.#stream.writableLength + this.#portion.length > limitBytes) {
      this.leftOut[kind] += 1
      return
    }
    this.#portion += line
    if (this.#portion.length >= portionBytes) this.#flush()
  }

  #flush(): void {
    if (this.#portion !== '') this.#stream.write(this.#portion, () => this.#tellLeftOut())
    this.#portion = ''
  }

  #tellLeftOut(): void {
    const requests = this.leftOut.requests - this.#told.requests
    const events = this.leftOut.events - this.#told.events
    if (requests + events === 0 || this.#stream.writableLength > roomBytes / 2) return
    this.#told = { ...this.leftOut }
    this.onRoom({ requests, events })
  }

  /** What can still be written without waiting. */
  #writeLast(): void {
    if (this.#stream.writableLength > 0 || this.#portion === '') return
    try {
      writeSync(1, this.#portion)
    } catch {
      // Nobody reads it.
    }
  }
}

/** JSON lines on standard output, or readable ones on a terminal. */
export async function createLog(config: Config): Promise<Log> {
  const options = { level: config.logLevel }
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
