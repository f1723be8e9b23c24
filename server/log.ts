import { pino } from 'pino'
import type { Config } from './config.ts'

/** JSON lines on standard output, or readable ones on a terminal. */
export async function createLog(config: Config): Promise<pino.Logger> {
  const options = { level: config.logLevel, base: null, timestamp: pino.stdTimeFunctions.isoTime }
  if (!process.stdout.isTTY) return pino(options)
  const { default: pretty } = await import('pino-pretty')
  return pino(options, pretty({ ignore: 'requestId', singleLine: true, translateTime: 'HH:MM:ss.l' }))
}
