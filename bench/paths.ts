import { formatInstant } from '../server/clock.ts'
import { type Kysely, sql } from '../server/db/kysely.ts'
import type { Database } from '../server/db/tables.ts'

const idsWanted = 50_000
const wordsWanted = 3
const pageSize = 20

/** The paths of a run, chosen from the data so that each filter matches the intended share. */
export interface Paths {
  /** To random orders of the whole table. */
  orders: string[]
  /** Keyed by the name of the sort. */
  firstPages: Record<string, string>
  lastPages: Record<string, string>
  /** Words that about one order in a hundred contains. */
  textFilter: string[]
  statusFilter: string[]
  /** Ranges that each match one order in a hundred. */
  totalRange: string[]
  dateRange: string[]
}

const sorts = ['createdAtUtc', 'updatedAtUtc', 'customer', 'total', 'status', 'id']

export async function choosePaths(db: Kysely<Database>, count: number): Promise<Paths> {
  const sample = await sampleOrders(db, count)
  const lastPage = Math.ceil(count / pageSize)
  const list = (query: string) => `/v1/orders?pageSize=${pageSize}${query}`
  const filter = (text: string) => list(`&filter=${encodeURIComponent(text)}`)
  const bySort = (query: string) =>
    Object.fromEntries(sorts.map((sort) => [sort, list(`&orderBy=${sort}${query}`)]))
  return {
    orders: sample.map(({ id }) => `/v1/orders/${id}`),
    firstPages: bySort('&order=Desc'),
    lastPages: bySort(`&order=Desc&pageNumber=${lastPage}`),
    textFilter: commonWords(sample.map((order) => order.customer_folded)).map(filter),
    statusFilter: ['status=Pending', 'status=Approved'].map(filter),
    totalRange: ranges(sample.map((order) => order.total_e4)).map(([low, high]) =>
      filter(`total>=${low / 10_000} total<${high / 10_000}`),
    ),
    dateRange: ranges(sample.map((order) => order.created_at)).map(([low, high]) =>
      filter(`createdAtUtc>=${formatInstant(low)} createdAtUtc<${formatInstant(high)}`),
    ),
  }
}

interface Sampled {
  id: string
  customer_folded: string
  total_e4: number
  created_at: number
}

/**
 * A sample of all orders: those whose millisecond is a multiple of some number, which is as good as random.
 */
async function sampleOrders(db: Kysely<Database>, count: number): Promise<Sampled[]> {
  const every = Math.max(1, Math.floor(count / idsWanted))
  const { rows } = await sql<Sampled>`select id, customer_folded, total_e4, created_at from orders
    where created_at % ${sql.lit(every)} = 0`.execute(db)
  return rows
}

/** The words whose share of the sample is nearest to one in a hundred. */
function commonWords(texts: string[]): string[] {
  const counts = new Map<string, number>()
  for (const text of texts) {
    for (const word of new Set(text.split(/[^\p{L}]+/u))) {
      if (word.length >= 5) counts.set(word, (counts.get(word) ?? 0) + 1)
    }
  }
  const distance = (count: number) => Math.abs(count / texts.length - 0.01)
  return [...counts]
    .sort(([, a], [, b]) => distance(a) - distance(b))
    .slice(0, wordsWanted)
    .map(([word]) => word)
}

/** Three ranges, each of which holds one value in a hundred. */
function ranges(values: number[]): [number, number][] {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? 0
  return [0.2, 0.5, 0.8].map((share) => [at(share), at(share + 0.01)])
}
