import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AppDatabase } from '../../db/port.ts'
import type { Allowance } from '../../http/allowance.ts'
import { piecesOf } from '../../http/bytes.ts'
import { callerOf } from '../../http/route.ts'
import { newOrderedId } from '../../ids.ts'
import { Problem } from '../../problems/problems.ts'
import { documentLimitBytes } from './documents.ts'
import { MediaType } from './media-type.ts'
import type { Document } from './store.ts'

interface Receiving {
  db: AppDatabase
  allowance: Allowance
  nowMilliseconds: number
  /** Whether to keep the bytes; else they are only hashed. */
  isKept: boolean
}

/**
 * Reads the bytes of a document from the request, and keeps them in pieces that nothing refers to yet. Throws
 * `body-too-large`, `rate-limited`, `request-timeout`, and `validation-failed` without any bytes.
 */
export async function receiveDocument(
  request: FastifyRequest,
  reply: FastifyReply,
  { db, allowance, nowMilliseconds, isKept }: Receiving,
): Promise<Omit<Document, 'name'>> {
  const announced = announcedBytes(request)
  const giveBack = allowance.take(callerOf(request).id, announced)
  const id = newOrderedId(nowMilliseconds)
  const [hash, type] = [createHash('sha256'), new MediaType()]
  let size = 0
  let piece = 0
  try {
    for await (const bytes of piecesOf(request, reply, { limitBytes: documentLimitBytes })) {
      size += bytes.length
      hash.update(bytes)
      type.add(bytes)
      if (isKept) await db.write('keepPiece', { documentId: id, piece, bytes, nowMilliseconds })
      piece += 1
    }
  } finally {
    giveBack(Math.max(0, announced - size))
  }
  if (size === 0) throw empty()
  return { id, size, mediaType: type.end(), sha256: hash.digest('hex') }
}

/** A body without a Content-Length counts as the largest there can be, until it ends. */
function announcedBytes({ headers }: FastifyRequest): number {
  const isChunked = headers['transfer-encoding'] !== undefined
  const bytes = isChunked ? documentLimitBytes : Number(headers['content-length'] ?? 0)
  if (bytes > documentLimitBytes) {
    throw new Problem('body-too-large', { detail: 'A document can have at most 5 MiB.' })
  }
  if (bytes === 0) throw empty()
  return bytes
}

function empty(): Problem {
  const detail = 'The body must have at least one byte.'
  return new Problem('validation-failed', { errors: [{ pointer: '#', code: 'length', detail }] })
}
