import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Db } from '../../db/tables.ts'
import { keepAnswering } from '../../http/connections.ts'
import { cacheControl, matchesNone } from '../../http/preconditions.ts'
import { mediaTypes } from './media-type.ts'
import { type Document, findPiece } from './store.ts'

/** A page of the service may show it in a frame. Whatever it is, nothing in it runs or loads anything. */
const policy = "default-src 'none'; frame-ancestors 'self'"
const sandboxed = `${policy}; sandbox`
/** Viewers of browsers are plugins with inline styles, and do not work in a sandbox. */
const pdfPolicy = `${policy}; object-src 'self'; style-src 'unsafe-inline'`

/** Sends the bytes as a stream. If it breaks off, its connection is reset. */
export function sendDocument(
  db: Db,
  request: FastifyRequest,
  reply: FastifyReply,
  { id, name, mediaType, size, sha256 }: Document,
): FastifyReply {
  const etag = `"${sha256}"`
  const isPdf = mediaType === mediaTypes.pdf
  const isInline = mediaType !== mediaTypes.other
  reply
    .header('etag', etag)
    .header('cache-control', cacheControl)
    .header('content-security-policy', isPdf ? pdfPolicy : sandboxed)
    .header('repr-digest', `sha-256=:${Buffer.from(sha256, 'hex').toString('base64')}:`)
    .header('content-disposition', `${isInline ? 'inline' : 'attachment'}; ${fileName(name)}`)
  if (!matchesNone(request.headers['if-none-match'], etag)) return reply.code(304).send(undefined)
  reply
    .header('content-type', mediaType === mediaTypes.text ? 'text/plain; charset=utf-8' : mediaType)
    .header('content-length', size)
  // Fastify would read the stream to its end to answer a HEAD.
  if (request.method === 'HEAD') return reply.send(Readable.from([]))
  const { socket } = request.raw
  const cut = () => socket.resetAndDestroy()
  const stream = Readable.from(bytesOf(db, id, { size, onPiece: () => keepAnswering(socket) }), {
    objectMode: false,
  })
  stream.once('error', cut)
  reply.raw.once('timeout', cut)
  return reply.send(stream)
}

async function* bytesOf(
  db: Db,
  id: string,
  { size, onPiece }: { size: number; onPiece: () => void },
): AsyncGenerator<Uint8Array, void> {
  for (let piece = 0, sent = 0; sent < size; piece += 1) {
    const bytes = await findPiece(db, id, piece)
    if (bytes === undefined) throw new Error('the document was removed while it was sent')
    onPiece()
    sent += bytes.length
    yield bytes
  }
}

/** In ASCII for old readers, and in full (RFC 6266, RFC 8187). */
function fileName(name: string): string {
  const ascii = name.replaceAll(/[^\x20-\x7e]|["%]/g, '_')
  const full = encodeURIComponent(name).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `filename="${ascii}"; filename*=UTF-8''${full}`
}
