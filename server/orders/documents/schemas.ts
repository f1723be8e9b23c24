import { formatInstant } from '../../clock.ts'
import { answerOf, flag, instant, int32, text } from '../../http/answers.ts'
import { queryOf } from '../../http/fields.ts'
import { pageNumberField, pageSchema, pageSizeField } from '../../http/paging.ts'
import { Type } from '../../http/schema.ts'
import { legibleText } from '../../http/text.ts'
import type { StoredDocument } from './store.ts'

const name = legibleText(120, 'The name of the file.', 'Offer 4711.pdf', { isFileName: true })

export const AddDocumentQuery = queryOf({ name }, ['name'])

const id = text('UUIDv7 of the document.', '019a9d2e-5b7c-7f3a-9c41-6d2f8e0b1a60', { format: 'uuid' })
const sha256 = text(
  'Hexadecimal SHA-256 of the bytes.',
  '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
)

export const AddDocumentResponse = answerOf('AddDocumentResponse', undefined, { id, sha256 })

export const OrderDocument = answerOf('OrderDocument', undefined, {
  id,
  name: text('As its sender called it.', 'Offer 4711.pdf'),
  mediaType: text(
    'What the bytes say, whatever was sent: application/pdf, image/png, image/jpeg, image/webp, text/plain, or else application/octet-stream.',
    'application/pdf',
  ),
  size: int32('Bytes.', 48_213),
  sha256,
  addedAtUtc: instant('When.', '2026-11-20T10:00:00.000Z'),
  by: text('User name or clientId of the account that added it.', 'operator'),
  erased: flag('Whether its bytes were erased. The hash stays.', false),
})

export const PaginatedListOfOrderDocument = pageSchema('PaginatedListOfOrderDocument', OrderDocument)

export const ListDocumentsQuery = queryOf({ pageNumber: pageNumberField, pageSize: pageSizeField })

export const DocumentBytes = Type.String({ format: 'binary', description: 'The bytes.', examples: ['%PDF-'] })

export const toAnswer = ({ addedAt, isErased, ...document }: StoredDocument) => ({
  ...document,
  addedAtUtc: formatInstant(addedAt),
  erased: isErased,
})
