import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { isIPv6, type Socket } from 'node:net'
import { type Answer, addCheckpoint, checkpointBy, type Witness } from './witness.ts'

/** Room for a note with sixteen signatures of any type. */
const bodyLimitBytes = 128 * 1024
const requestLimitMilliseconds = 10_000
const lookIntervalMilliseconds = 1_000
/** A proxy keeps its connections for less. */
const idleLimitMilliseconds = 65_000
const defaultConnectionsLimit = 500

interface ListenOptions {
  host: string
  port: number
  onError(error: unknown): void
  connectionsLimit?: number
}

/** Resolves once the witness listens. */
export async function listen(
  witness: Witness,
  { host, port, onError, connectionsLimit = defaultConnectionsLimit }: ListenOptions,
): Promise<Server> {
  const server = createServer(
    {
      requestTimeout: requestLimitMilliseconds,
      headersTimeout: requestLimitMilliseconds,
      connectionsCheckingInterval: lookIntervalMilliseconds,
      keepAliveTimeout: idleLimitMilliseconds,
    },
    async (request, response) => {
      const failed = { status: 500, body: 'the witness could not keep the checkpoint\n' } as const
      const answer = await answerTo(witness, request).catch((error) => {
        onError(error)
        return failed
      })
      if (answer !== undefined) send(response, answer)
    },
  )
  boundConnections(server, connectionsLimit)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  return server
}

/** When there are too many, the network with the most loses its oldest: so nobody can take all. */
function boundConnections(server: Server, limit: number): void {
  const open = new Set<Socket>()
  server.on('connection', (socket) => {
    open.add(socket.once('close', () => open.delete(socket)))
    if (open.size <= limit) return
    const [first = [], ...others] = Map.groupBy(open, networkOf).values()
    const [oldest] = others.reduce((most, one) => (one.length > most.length ? one : most), first)
    oldest?.destroy()
  })
}

/** An address of IPv4; the half of an address of IPv6 that a host cannot choose. */
function networkOf({ remoteAddress = '' }: Socket): string {
  if (!isIPv6(remoteAddress) || remoteAddress.includes('.')) return remoteAddress
  const [before = ''] = remoteAddress.split('::')
  return before.split(':').slice(0, 4).join(':')
}

interface AnyAnswer {
  status: Answer['status'] | 405 | 413 | 500
  type?: string
  body: string
}

/** Undefined if the caller has left. */
async function answerTo(witness: Witness, request: IncomingMessage): Promise<AnyAnswer | undefined> {
  const { method, url = '' } = request
  const [, originHash] = /^\/([0-9a-f]{64})\/checkpoint$/.exec(url) ?? []
  if (method === 'GET' && originHash !== undefined) {
    const body = checkpointBy(witness, originHash)
    return body === undefined ? { status: 404, body: 'no checkpoint of that log\n' } : { status: 200, body }
  }
  if (url !== '/add-checkpoint') return { status: 404, body: 'this witness has only /add-checkpoint\n' }
  if (method !== 'POST') return { status: 405, body: 'the method must be POST\n' }
  const body = await readBody(request).catch(() => undefined)
  if (body === undefined) return undefined
  if (body.length > bodyLimitBytes) {
    return { status: 413, body: `a body must have at most ${bodyLimitBytes} bytes\n` }
  }
  const text = textOf(body)
  return text === undefined ? { status: 400, body: 'a body must be UTF-8\n' } : addCheckpoint(witness, text)
}

/** Stops reading beyond the limit. */
async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    chunks.push(chunk)
    length += chunk.length
    if (length > bodyLimitBytes) break
  }
  return Buffer.concat(chunks)
}

/** A byte order mark is part of the text, so that nothing has two spellings. */
function textOf(body: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body)
  } catch {
    return undefined
  }
}

function send(
  response: ServerResponse,
  { status, type = 'text/plain; charset=utf-8', body }: AnyAnswer,
): void {
  response.writeHead(status, {
    'content-type': type,
    'content-length': Buffer.byteLength(body),
    ...(status === 405 && { allow: 'POST' }),
    // The rest of the body is not read.
    ...(status === 413 && { connection: 'close' }),
  })
  response.end(body)
}
