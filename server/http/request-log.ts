import type { FastifyBaseLogger } from 'fastify'
import { type Logger, pino } from 'pino'
import { timestampMember } from '../log.ts'
import { pathOf, repeatedPathLimit } from './errors.ts'
import type { App } from './route.ts'

const infoLevel = pino.levels.values.info

/** What the methods of a logger take: an object or a text, and values for the text. */
type Line = [first: object, text?: string, ...values: unknown[]]

/**
 * The logger of a request, made only when somebody logs besides the one line of every request: for Fastify's
 * `childLoggerFactory`, which would otherwise make one each time.
 */
export class RequestLog implements FastifyBaseLogger {
  readonly parent: FastifyBaseLogger
  readonly #bindings: Record<string, unknown>
  readonly #options: object
  #made: FastifyBaseLogger | undefined

  constructor(parent: FastifyBaseLogger, bindings: Record<string, unknown>, options: object) {
    this.parent = parent
    this.#bindings = bindings
    this.#options = options
  }

  get #own(): FastifyBaseLogger {
    this.#made ??= this.parent.child(this.#bindings, this.#options)
    return this.#made
  }

  get level() {
    return this.parent.level
  }

  child(bindings: Record<string, unknown>, options: object = {}): FastifyBaseLogger {
    return this.#own.child(bindings, options)
  }

  fatal(...line: unknown[]): void {
    this.#own.fatal(...(line as Line))
  }
  error(...line: unknown[]): void {
    this.#own.error(...(line as Line))
  }
  warn(...line: unknown[]): void {
    this.#own.warn(...(line as Line))
  }
  info(...line: unknown[]): void {
    this.#own.info(...(line as Line))
  }
  debug(...line: unknown[]): void {
    this.#own.debug(...(line as Line))
  }
  trace(...line: unknown[]): void {
    this.#own.trace(...(line as Line))
  }
  silent(...line: unknown[]): void {
    this.#own.silent(...(line as Line))
  }
}

/**
 * One line for every answered request; of a refusal it also tells the problem and the address. The query string,
 * headers and bodies are never logged: they may hold what does not belong there.
 */
export function registerRequestLog(app: App, log: Logger): void {
  const destination = (log as unknown as Record<symbol, { write(line: string): void }>)[
    pino.symbols.streamSym
  ]
  const isLogged = log.isLevelEnabled('info')
  app.addHook('onResponse', (request, reply, done) => {
    if (!isLogged) return done()
    const { principal, problem } = request
    const values = {
      method: request.method,
      path: pathOf(request.raw.url).slice(0, repeatedPathLimit),
      route: request.routeOptions.schema?.operationId,
      status: reply.statusCode,
      milliseconds: Math.round(reply.elapsedTime * 10) / 10,
      caller: principal?.userName,
      via: principal?.via,
      problem: problem ?? undefined,
      address: problem === null ? undefined : request.clientAddress,
    }
    // A logger of the request's own, or only the walk over an object, costs more than the line.
    if (request.log instanceof RequestLog) destination?.write(lineOf(request.id, values))
    else request.log.info(values, 'request')
    done()
  })
}

interface RequestLine {
  method: string
  path: string
  route: string | undefined
  status: number
  milliseconds: number
  caller: string | undefined
  via: string | undefined
  /** Of a refusal, with the address. */
  problem: string | undefined
  address: string | undefined
}

/** As pino writes it. Of the values put in as they are none has a character that JSON escapes. */
function lineOf(requestId: string, line: RequestLine): string {
  const { method, path, route, status, milliseconds, caller, via, problem, address } = line
  const start = `{"level":${infoLevel}${timestampMember()},"requestId":"${requestId}","method":"${method}"`
  const target = `,"path":${JSON.stringify(path)}${route === undefined ? '' : `,"route":"${route}"`}`
  const who = caller === undefined ? '' : `,"caller":${JSON.stringify(caller)},"via":"${via}"`
  const why = problem === undefined ? '' : `,"problem":"${problem}","address":${JSON.stringify(address)}`
  return `${start}${target},"status":${status},"milliseconds":${milliseconds}${who}${why},"msg":"request"}\n`
}
