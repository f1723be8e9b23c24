import { pino } from 'pino'
import { formatInstant, systemClock } from './clock.ts'
import type { Config } from './config.ts'

let formattedAt = 0
let formatted = ''

/** The member that dates a line (RFC 3339), as pino takes it. All lines of one millisecond share its text. */
function timestampMember(): string {
  const now = systemClock()
  if (now !== formattedAt) {
    formattedAt = now
    formatted = `,"time":"${formatInstant(now)}"`
  }
  return formatted
}

/** A logger that can also write a line as it is: pino's own way there costs twice as much. */
export type Log = pino.Logger & { writeLine(level: pino.Level, members: object): void }

export function makeLog(options: pino.LoggerOptions, stream: pino.DestinationStream): Log {
  const log = pino({ base: null, timestamp: timestampMember, ...options }, stream)
  const writeLine = (level: pino.Level, members: object) =>
    stream.write(
      `{"level":${pino.levels.values[level]}${timestampMember()},${JSON.stringify(members).slice(1)}\n`,
    )
  return Object.assign(log, { writeLine })
}

const bufferBytes = 8 * 1024
const flushIntervalMilliseconds = 200
/** What may wait while nobody reads the log; further lines are lost, and counted. */
const unreadLimitBytes = 4 * 1024 * 1024

/**
 * JSON lines on standard output, or readable ones on a terminal. JSON lines are written together, at least five times a
 * second and at the end of the process: a system call for each would cost more than the line.
 */
export async function createLog(config: Config): Promise<Log> {
  const options = { level: config.logLevel }
  if (!process.stdout.isTTY) {
    const destination = pino.destination({
      fd: 1,
      sync: false,
      minLength: bufferBytes,
      maxLength: unreadLimitBytes,
    })
    setInterval(() => destination.flush(), flushIntervalMilliseconds).unref()
    const log = makeLog(options, destination)
    let lost = 0
    destination.on('drop', () => {
      lost += 1
    })
    destination.on('drain', () => {
      if (lost === 0) return
      const lines = lost
      lost = 0
      log.warn({ lines }, 'log lines were lost: their reader had stalled')
    })
    return log
  }
  const { default: pretty } = await import('pino-pretty')
  return makeLog(options, pretty({ ignore: 'requestId', singleLine: true, translateTime: 'HH:MM:ss.l' }))
}
