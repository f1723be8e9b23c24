import { formatInstant } from '../../clock.ts'
import { answerOf, flag, instant, text } from '../../http/answers.ts'
import { queryOf } from '../../http/fields.ts'
import { pageSchema } from '../../http/paging.ts'
import { Type } from '../../http/schema.ts'
import { legibleText } from '../../http/text.ts'
import { aboutDocument } from '../schemas.ts'
import type { StoredDocument } from './store.ts'

const name = legibleText(120, 'The name of the file.', 'Offer 4711.pdf', { isFileName: true })

export const AddDocumentQuery = queryOf({ name }, ['name'])

const { id, sha256 } = aboutDocument

export const AddDocumentResponse = answerOf('AddDocumentResponse', undefined, { id, sha256 })

export const OrderDocument = answerOf('OrderDocument', undefined, {
  ...aboutDocument,
  name: text('As its sender called it.', 'Offer 4711.pdf'),
  addedAtUtc: instant('When.', '2026-11-20T10:00:00.000Z'),
  by: text('User name or clientId of the account that added it.', 'operator'),
  erased: flag('Whether its bytes were erased. The hash stays.', false),
})

export const PaginatedListOfOrderDocument = pageSchema('PaginatedListOfOrderDocument', OrderDocument)

export const DocumentBytes = Type.String({ format: 'binary', description: 'The bytes.', examples: ['%PDF-'] })

export const toAnswer = ({ addedAt, isErased, ...document }: StoredDocument) => ({
  ...document,
  addedAtUtc: formatInstant(addedAt),
  erased: isErased,
})
