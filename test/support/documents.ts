import { createHash } from 'node:crypto'
import type { Answer, Client } from './client.ts'
import type { Service } from './service.ts'

export const documentLimitBytes = 5 * 1024 * 1024

/** Bytes of a type, with something dangerous behind its signature. */
export const files = {
  pdf: Buffer.from('%PDF-1.7\n%\xe2\xe3\xcf\xd3\n', 'latin1'),
  png: Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  ),
  jpeg: Buffer.from('\xff\xd8\xff\xe0\0\x10JFIF\0', 'latin1'),
  webp: Buffer.from('RIFF\x1a\0\0\0WEBPVP8L', 'latin1'),
  html: Buffer.from('<!doctype html><script>window.ran = true</script>'),
  svg: Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" onload="window.ran = true"/>'),
}

export const digestOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

/** Sends a document to the order. */
export function addDocument(
  caller: Client,
  orderId: string,
  bytes: Uint8Array | string,
  { name = 'Offer.pdf', ...headers }: { name?: string; [header: string]: string } = {},
): Promise<Answer> {
  const path = `/v1/orders/${orderId}/documents?name=${encodeURIComponent(name)}`
  return caller.post(path, bytes, { 'content-type': 'application/octet-stream', ...headers })
}

/** Everything that is stored of documents. */
export async function storedDocuments({ db: { read } }: Pick<Service, 'db'>) {
  return {
    documents: await read.selectFrom('order_documents').selectAll().orderBy('id').execute(),
    pieces: await read.selectFrom('document_pieces').select(['document_id', 'piece']).execute(),
    leftovers: await read.selectFrom('document_leftovers').selectAll().execute(),
  }
}
