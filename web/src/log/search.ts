import { dayOf, startOf } from '../orders/filter/days.ts'
import { defaultPageSize, type Paging, parsePaging } from '../ui/paging.ts'

/**
 * Which events are shown, under the names of the API. `from` and `to` are days in the person's time zone,
 * both included.
 */
export interface LogSearch extends Paging {
  subject?: string | undefined
  kind?: string | undefined
  by?: string | undefined
  from?: string | undefined
  to?: string | undefined
}

/** Reads an address; parts that make no sense count as absent. */
export function parseLogSearch(search: { [Name in keyof LogSearch]?: unknown }): LogSearch {
  return {
    subject: textOf(search.subject),
    kind: textOf(search.kind),
    by: textOf(search.by),
    from: dateIn(search.from),
    to: dateIn(search.to),
    ...parsePaging(search),
  }
}

function textOf(value: unknown): string | undefined {
  return (typeof value === 'string' && value.trim()) || undefined
}

function dateIn(value: unknown): string | undefined {
  const text = textOf(value)
  return text !== undefined && dayOf(text) !== undefined ? text : undefined
}

/** The query parameters for the service: newest first, with days as instants. */
export function parametersOf({ subject, kind, by, from, to, pageNumber, pageSize }: LogSearch) {
  const [first, last] = [dayOf(from ?? ''), dayOf(to ?? '')]
  const start = first === undefined ? undefined : startOf(first)
  const end = last === undefined ? undefined : startOf(last + 1)
  return {
    order: 'Desc',
    pageSize: pageSize ?? defaultPageSize,
    ...(pageNumber && { pageNumber }),
    ...(subject && { subject }),
    ...(kind && { kind }),
    ...(by && { by }),
    ...(start && { from: start }),
    ...(end && { until: end }),
  }
}

export function isFiltered({ pageNumber: _, pageSize: __, ...filter }: LogSearch): boolean {
  return Object.values(filter).some((value) => value !== undefined)
}
