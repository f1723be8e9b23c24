import { type Guard, inFile } from './guard.ts'

const store = inFile('server/orders/store.ts')
const keys = inFile('server/http/idempotency.ts')
const newest = inFile('server/orders/list/newest.ts')
const fields = inFile('server/orders/schemas.ts')

const approvals = ['test/orders/approveOrder.test.ts']
const repeats = ['test/orders/idempotency.test.ts']
const creates = ['test/orders/createOrder.test.ts']
const newestFirst = ['test/orders/newest-first.test.ts']

/** Orders: what is stored, once, and told as it is. */
export const orderGuards: Guard[] = [
  store(
    'approve-status',
    'an approved order is approved again',
    approvals,
    `    .where('status', 'in', transition.from)\n`,
  ),
  store(
    'approve-version',
    'an approval overwrites a version that its caller has not seen',
    approvals,
    `    .$if(acceptedVersions !== null, (query) => query.where('version', 'in', acceptedVersions ?? []))\n`,
  ),
  store(
    'approve-this-order',
    'an approval approves every pending order',
    approvals,
    `    .where('id', '=', change.id)\n`,
  ),
  // An If-Match that names no version: both engines' `in ()` of nothing keeps it from approving too.
  keys(
    'idempotency-fingerprint',
    'the key of one request answers another',
    repeats,
    'if (fingerprint !== input.fingerprint) throw',
    'if (false) throw',
  ),
  keys(
    'idempotency-held',
    'a key that is held is taken over',
    repeats,
    `\n        .where('idempotency_keys.expires_at', '<=', claimed.nowMilliseconds)`,
  ),
  keys(
    'idempotency-expiry',
    'a key is kept for ever',
    repeats,
    `.where('idempotency_keys.expires_at', '<=', claimed.nowMilliseconds)`,
    `.where('idempotency_keys.expires_at', '<=', 0)`,
  ),
  keys(
    'idempotency-claim',
    'a repeated request has its effect again',
    repeats,
    'return (await insertClaim(trx, { ...input, ...answer })) === 1',
    'return (await insertClaim(trx, { ...input, ...answer })) >= 0',
  ),
  keys(
    'idempotency-by-caller',
    'callers share their keys',
    repeats,
    'principalId: request.principal.id,',
    'principalId: 1,',
  ),
  keys(
    'idempotency-by-operation',
    'operations share their keys',
    repeats,
    'operation: `',
    "operation: 'any' || `",
  ),
  {
    id: 'postgres-idempotency-held',
    broken: 'of a group of creates, one whose key is held is stored again',
    edits: [
      {
        file: 'server/db/postgres/order-group.ts',
        from: 'where key is null or (principal_id, operation, key) in (select principal_id, operation, key from claimed)',
        to: 'where true',
      },
    ],
    tests: repeats,
    engine: 'postgres',
  },
  fields(
    'total-digits',
    'a total is too great to be kept exactly',
    creates,
    '  if (whole.length > 11) return tooLarge\n',
  ),
  fields(
    'total-decimals',
    'a total is stored other than it was sent',
    creates,
    '  if (fraction.length > 4) return tooPrecise\n',
  ),
  fields(
    'total-positive',
    'a total is nothing, or less',
    creates,
    `  if (text.startsWith('-') || /^[0.]+$/.test(text)) return notPositive\n`,
  ),
  fields(
    'customer-characters',
    'a customer holds control characters',
    creates,
    `    if (/\\p{Cc}/u.test(trimmed)) return new Fault('characters', 'must not hold control characters.')\n`,
  ),
  inFile('server/orders/list/count.ts')(
    'list-total-status',
    'the total of a list by status counts the others too',
    ['test/orders/order-tally.test.ts'],
    'return sumOf(wanted.map((status) => counts.get(status) ?? 0))',
    'return sumOf([...counts.values()])',
  ),
  newest(
    'newest-first-instant',
    'a page cuts orders of one instant by their number',
    newestFirst,
    'isCut ? [...rows, ...(await restOfInstant(db, filter, rows, isNewestFirst))] : rows',
    'isCut ? rows : rows',
  ),
  newest(
    'newest-first-walked',
    'a page takes numbers for the order of creation where they are not',
    newestFirst,
    'Math.max(inOrderFrom, last - reach)',
    'last - reach',
  ),
  newest(
    'newest-first-found',
    'a search takes numbers for the order of creation where they are not',
    newestFirst,
    'from: inOrderFrom, limit',
    'from: 0, limit',
  ),
  newest(
    'oldest-first',
    'the oldest orders are told by their numbers where those say nothing',
    newestFirst,
    'if (!isNewestFirst && inOrderFrom > first) return undefined',
  ),
  inFile('server/db/order-sql.ts')(
    'search-some-trigrams',
    'a search finds what has only some parts of the text',
    newestFirst,
    '> 0\n      order by found.rowid',
    '>= 0\n      order by found.rowid',
  ),
  inFile('server/db/sqlite/turn.ts')(
    'quick-reads-again',
    'a list that is not quick after all is refused instead of begun again in a thread',
    ['test/db/sqlite-readers.test.ts'],
    '      if (error instanceof QueryTooSlow) return undefined\n',
  ),
  inFile('server/db/sqlite/schema.ts')(
    'newest-first-clock',
    'nobody notes that a clock was set back',
    newestFirst,
    'when new.created_at < (select max(created_at) from orders) or new.seq',
    'when new.seq',
  ),
  inFile('server/orders/list/find.ts')(
    'result-too-large',
    'a list without paging has no end',
    ['test/orders/listOrders.test.ts'],
    '  if (page === null && totalCount > unpagedLimit) throw tooLarge(totalCount)\n',
  ),
  inFile('server/orders/filter/lexer.ts')(
    'filter-length',
    'a filter is as long as a caller likes',
    ['test/orders/filter.test.ts'],
    'maximumLengthCodePoints = 1000',
    'maximumLengthCodePoints = 1_000_000',
  ),
  inFile('server/orders/filter/parser.ts')(
    'filter-nesting',
    'parentheses nest until the stack ends',
    ['test/orders/filter.test.ts'],
    'cursor.depth === maximumNesting',
    'cursor.depth === 1_000_000',
  ),
  inFile('server/orders/filter/parser.ts')(
    'filter-restrictions',
    'a filter has as many restrictions as a caller likes',
    ['test/orders/filter.test.ts'],
    'if (cursor.restrictions <= maximumRestrictions) return',
    'if (cursor.restrictions <= 1_000_000) return',
  ),
]
