/**
 * Names that other APIs give the parameters of a list. An unknown parameter is ignored, but one of these
 * would be believed: `?status=Pending` or `?limit=5` would answer every order as if it had been asked for.
 */
const meant: Record<string, readonly string[]> = {
  pageNumber: ['page', 'pageno', 'pageindex', 'offset', 'skip', 'start', 'cursor'],
  pageSize: ['size', 'limit', 'perpage', 'take', 'top', 'maxresults'],
  orderBy: ['sort', 'sortby', 'sorting'],
  order: ['sortorder', 'sortdir', 'sortdirection', 'dir', 'direction'],
  filter: ['q', 'query', 'search', 'where', 'filters', 'status', 'state', 'customer', 'total', 'createdby'],
  columns: ['fields', 'select'],
}
const known = Object.keys(meant)
const names = new Map(
  known.flatMap((name) => [name.toLowerCase(), ...(meant[name] ?? [])].map((other) => [other, name])),
)

/**
 * The hint about a parameter that a list does not have, if other APIs have one of that name. Case, `$`, `-`
 * and `_` do not count: `page_size` and `pagesize` both mean `pageSize`.
 */
export function foreignName(name: string, own: readonly string[]): string | undefined {
  const right = names.get(name.toLowerCase().replaceAll(/[$_-]/g, ''))
  if (right === undefined) return undefined
  const example = right === 'filter' && name === 'status' ? ', as in filter=status=Pending' : ''
  return own.includes(right)
    ? `${name} is called ${right} here${example}.`
    : `${name} is no parameter of this list. It takes ${own.join(', ')}.`
}
