type Query = Record<string, unknown>
interface ListInit {
  params?: { query?: object }
}
interface Entry {
  id: string
}
type Get = (path: string, init: ListInit & { asked: object }) => Promise<unknown>
interface Page {
  items: Entry[]
  hasNextPage?: boolean
}
type ReadPage = (query: Query) => Promise<Page>

/** See `Calls.each`. */
export async function* eachOf(get: Get, path: string, init: ListInit = {}): AsyncGenerator<unknown, void> {
  const given: Query = { pageSize: 100, ...init.params?.query, pageNumber: undefined }
  /** Every page is for the person who asked for the first. */
  const asked = {}
  const read: ReadPage = async (query) =>
    ((await get(path, { ...init, asked, params: { ...init.params, query } })) as { data: Page }).data
  if (path !== '/v1/orders') return yield* await everyEntry(read, given)
  const isById = /^(?:id|createdAtUtc)$/i.test(String(given.orderBy ?? 'id'))
  yield* (isById ? eachById : eachInOrder)(read, { ...given, paginated: undefined })
}

/** By their positions: a change meanwhile may move an entry to another page. */
async function everyEntry(read: ReadPage, given: Query): Promise<Entry[]> {
  const entries: Entry[] = []
  for (let pageNumber = 1; ; pageNumber += 1) {
    const { items, hasNextPage } = await read({ ...given, pageNumber })
    entries.push(...items)
    if (!hasNextPage) return entries
  }
}

/** After the last id, not at a position, so that no change can move an order past the walk. */
async function* eachById(read: ReadPage, given: Query): AsyncGenerator<Entry, void> {
  const { filter, order = 'Asc' } = given
  const sign = /^(?:desc|1)$/i.test(String(order)) ? '<' : '>'
  for (let last: string | undefined; ; ) {
    const found = last === undefined ? filter : within(filter, `id${sign}${last}`)
    const { items, hasNextPage } = await read({ ...given, order, orderBy: 'id', filter: found })
    yield* items
    last = items.at(-1)?.id
    if (!hasNextPage || last === undefined) return
  }
}

/** A filter has room for that many restrictions. */
const idsOfPart = 20

/** Collects the ids, and looks at each order again before it is given. */
async function* eachInOrder(read: ReadPage, given: Query): AsyncGenerator<Entry, void> {
  const found = (await everyEntry(read, given)).map(({ id }) => id)
  // A change may have moved some past the pages. They come last.
  for await (const { id } of eachById(read, { ...given, order: 'Asc' })) found.push(id)
  const ids = [...new Set(found)]
  for (let at = 0; at < ids.length; at += idsOfPart) {
    const part = ids.slice(at, at + idsOfPart)
    const filter = within(given.filter, `(${part.map((id) => `id=${id}`).join(' OR ')})`)
    const { items } = await read({ ...given, filter, pageSize: idsOfPart })
    const byId = new Map(items.map((item) => [item.id, item]))
    yield* part.flatMap((id) => byId.get(id) ?? [])
  }
}

/** In exactly this form, the restriction does not count towards the limits of the filter. */
function within(filter: unknown, restriction: string): string {
  const text = String(filter ?? '').trim()
  return text === '' ? restriction : `(${text}) AND ${restriction}`
}
