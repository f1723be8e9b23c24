import type { FastifyReply, FastifyRequest } from 'fastify'
import { Problem } from '../problems/problems.ts'
import { keepAnswering, limitsItself } from './connections.ts'
import { askForBody } from './expect.ts'
import type { App } from './route.ts'

export const pieceBytes = 64 * 1024
/** A sender is served as long as each piece arrives in this time. */
const pieceLimitMilliseconds = 10_000

/** Routes that take a body of any media type, which their handlers read by `piecesOf`. */
export async function registerByteRoutes(app: App, add: (scope: App) => void): Promise<void> {
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null))
    scope.addHook('preParsing', ({ raw }, _reply, payload, done) => {
      // Fastify refuses a malformed type, and here none is read.
      raw.headers['content-type'] = 'application/octet-stream'
      done(null, payload)
    })
    add(scope as App)
  })
}

/**
 * The body in pieces of 64 KiB; the last one may be shorter. A piece is read when the one before it has been
 * dealt with, so a body takes no more memory than a piece. Throws `body-too-large`, `request-timeout`.
 */
export async function* piecesOf(
  { raw }: FastifyRequest,
  reply: FastifyReply,
  { limitBytes }: { limitBytes: number },
): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
  limitsItself(raw)
  askForBody(raw, reply.raw)
  // Destroying the request would take its connection, and so the answer, along.
  const chunks = raw.iterator({ destroyOnReturn: false })
  let rest = new Uint8Array()
  async function nextPiece(): Promise<Uint8Array<ArrayBuffer>> {
    const piece = new Uint8Array(pieceBytes)
    let filled = 0
    const { promise: late, reject } = Promise.withResolvers<never>()
    const timer = setTimeout(() => reject(tooSlow(reply)), pieceLimitMilliseconds)
    try {
      while (filled < pieceBytes) {
        const next = rest.length > 0 ? { value: rest } : await Promise.race([chunks.next(), late])
        if ('done' in next && next.done) break
        const taken = next.value.subarray(0, pieceBytes - filled)
        piece.set(taken, filled)
        filled += taken.length
        rest = next.value.subarray(taken.length)
      }
    } finally {
      clearTimeout(timer)
    }
    keepAnswering(raw.socket)
    return piece.slice(0, filled)
  }
  let bytes = 0
  try {
    for (let piece = await nextPiece(); piece.length > 0; piece = await nextPiece()) {
      bytes += piece.length
      if (bytes > limitBytes) throw new Problem('body-too-large')
      yield piece
    }
  } finally {
    // Node then drops the rest of the body. A sender that is late loses the connection instead.
    void chunks.return?.()
  }
}

function tooSlow(reply: FastifyReply): Problem {
  reply.header('connection', 'close')
  const detail = `64 KiB of the body must arrive every ${pieceLimitMilliseconds / 1000} seconds.`
  return new Problem('request-timeout', { detail })
}
