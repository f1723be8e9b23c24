import type { FastifyReply } from 'fastify'
import { answerOf, flag, int32 } from './answers.ts'
import { Fault, type Field, int32Field, named } from './fields.ts'
import { parseQuery } from './form-text.ts'
import { header } from './route.ts'
import { forModels, type Schema, Type } from './schema.ts'

const defaultPageSize = 10
const pageSizeLimit = 100

/** A page without its items (section 2 of the contract). */
export interface PageDescription {
  pageNumber: number
  totalPages: number
  totalCount: number
  hasPreviousPage: boolean
  hasNextPage: boolean
}

export function pageSchema<T extends Schema>(name: string, items: T) {
  return answerOf(name, undefined, {
    items: Type.Array(items),
    pageNumber: int32('Number of this page, from 1.', 1),
    totalPages: int32('Number of pages; 0 if nothing matches.', 13),
    totalCount: Type.Optional(int32('Number of matches. Always sent.', 250)),
    hasPreviousPage: Type.Optional(flag('Always sent.', false)),
    hasNextPage: Type.Optional(flag('Always sent.', true)),
  })
}

function positiveInt32(fallback: number, description: string, extra: Record<string, unknown>): Field<number> {
  return int32Field(1, 2_147_483_647, { default: fallback, description, pattern: '^[1-9]\\d*$', ...extra })
}

export const pageNumberField = positiveInt32(1, 'Page to return, from 1. Pages past the end have no items.', {
  examples: [1],
})
export const pageSizeField = positiveInt32(
  defaultPageSize,
  `Items per page. More than ${pageSizeLimit} counts as ${pageSizeLimit}.`,
  { examples: [20] },
)

export const paginatedField: Field<boolean> = {
  schema: Type.Unsafe<boolean>({
    type: ['boolean', 'string'],
    pattern: '^(?:[Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee])$',
    default: true,
    description: '`false` returns every match as one page, up to 10,000.',
    examples: [true],
  }),
  read(value) {
    const text = String(value).toLowerCase()
    return text === 'true' || text === 'false'
      ? text === 'true'
      : new Fault('format', 'must be true or false.')
  },
}

/** In the order of their numbers. */
const directions = ['Asc', 'Desc'] as const

export const EOrderDirection = named(
  'EOrderDirection',
  Type.Unsafe<number>({
    type: 'integer',
    enum: [0, 1],
    'x-enum-varnames': [...directions],
    description: 'Asc = 0, Desc = 1.',
    examples: [1],
  }),
)

export function directionField(description: string): Field<'asc' | 'desc'> {
  return {
    schema: Type.Unsafe<string>({
      anyOf: [EOrderDirection, { type: 'string', pattern: anyCasePattern(directions) }],
      description: `Sort direction: Asc or Desc (ignoring case), or its number. ${description}`.trim(),
      examples: ['Desc'],
      [forModels]: { type: 'string', enum: directions, description: `Sort direction. ${description}`.trim() },
    }),
    read(value) {
      const wanted = typeof value === 'object' ? '' : String(value).toLowerCase()
      const number = directions.findIndex((name, index) => [name.toLowerCase(), `${index}`].includes(wanted))
      if (number < 0) return new Fault('enum', 'must be Asc (0) or Desc (1).')
      return number === 0 ? 'asc' : 'desc'
    },
  }
}

export function numberOfDirection(way: 'asc' | 'desc'): number {
  return way === 'asc' ? 0 : 1
}

/** `^(?:[Aa][Ss][Cc]|...)$`: patterns of JSON Schema have no flag to ignore case. */
export function anyCasePattern(names: readonly string[]): string {
  const any = names.map((name) =>
    name.replaceAll(/[A-Za-z]/g, (letter) => `[${letter.toUpperCase()}${letter.toLowerCase()}]`),
  )
  return `^(?:${any.join('|')})$`
}

export interface PageRequest {
  pageNumber: number
  pageSize: number
  offset: number
}

export function pageRequest(pageNumber = 1, pageSize = defaultPageSize): PageRequest {
  const size = Math.min(pageSize, pageSizeLimit)
  return { pageNumber, pageSize: size, offset: (pageNumber - 1) * size }
}

/** `request` is null for the one page with all matches. */
export function describePage(totalCount: number, request: PageRequest | null): PageDescription {
  const { pageNumber, pageSize } = request ?? { pageNumber: 1, pageSize: Math.max(1, totalCount) }
  const totalPages = Math.ceil(totalCount / pageSize)
  return {
    pageNumber,
    totalPages,
    totalCount,
    hasPreviousPage: pageNumber > 1 && totalPages > 0,
    hasNextPage: pageNumber < totalPages,
  }
}

/** A page whose items are already JSON text. */
export function pageJson(items: string, description: PageDescription): string {
  return `{"items":${items},${JSON.stringify(description).slice(1)}`
}

export function sendJson(reply: FastifyReply, json: string): FastifyReply {
  return reply.header('content-type', 'application/json; charset=utf-8').send(json)
}

export function sendText(reply: FastifyReply, text: string): FastifyReply {
  return reply.header('content-type', 'text/plain; charset=utf-8').send(text)
}

export const linkHeader = header(
  'Link',
  'Links to the first, previous, next and last page that exist (RFC 8288).',
  { example: '</v1/orders?pageNumber=2>; rel="next"' },
)

/** A longer header is left out, because the caller's HTTP client might not take it. */
const linkLimitBytes = 8 * 1024

/** The `Link` header. Its targets repeat the known parameters of the query with another pageNumber. */
export function pageLinks(
  path: string,
  url: string | undefined,
  known: Schema,
  page: PageDescription,
): { link?: string } {
  const last = Math.max(1, page.totalPages)
  const targets: [string, number][] = [['first', 1]]
  if (page.hasPreviousPage) targets.push(['prev', Math.min(page.pageNumber - 1, last)])
  if (page.hasNextPage) targets.push(['next', page.pageNumber + 1])
  targets.push(['last', last])
  const others = repeatedParameters(url ?? '', known)
  const link = targets
    .map(([rel, number]) => `<${path}?${[`pageNumber=${number}`, ...others].join('&')}>; rel="${rel}"`)
    .join(', ')
  return link.length > linkLimitBytes ? {} : { link }
}

/** The known parameters as they were read, however the request spelled them. */
function repeatedParameters(url: string, known: Schema): string[] {
  const start = url.indexOf('?')
  const given = parseQuery(start < 0 ? '' : url.slice(start + 1))
  const names = Object.keys((known as { properties?: object }).properties ?? {})
  return names.flatMap((name) => {
    const value = given[name]
    const isRepeated = name !== 'pageNumber' && typeof value === 'string' && value !== ''
    return isRepeated ? [`${name}=${encodeURIComponent(value)}`] : []
  })
}
