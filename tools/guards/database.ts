import { type Guard, inFile } from './guard.ts'

const writer = inFile('server/db/sqlite/writer.ts')
const files = inFile('server/db/sqlite/files.ts')
const search = inFile('server/db/sqlite/search.ts')
const turns = inFile('server/db/fair-queue.ts')

const writes = ['test/db/sqlite-writer.test.ts']
const searches = ['test/db/sqlite-search.test.ts']
const place = ['test/faults/sqlite-disk.test.ts']

/** What is acknowledged is stored, and nothing else is. `synchronous=FULL` shows only when the power fails: left out. */
export const databaseGuards: Guard[] = [
  writer(
    'writer-needs-savepoint',
    'what an operation wrote before it threw is committed with its group',
    writes,
    'throw new NeedsSavepoint()',
    'void NeedsSavepoint',
  ),
  writer(
    'writer-savepoint',
    'an operation that throws in a group keeps what it wrote',
    writes,
    `rollback: ['rollback to operation', 'release operation']`,
    `rollback: ['release operation']`,
  ),
  // A group whose transaction has ended is refused twice: after the operation that ended it, and by COMMIT.
  writer(
    'writer-in-place',
    'writes go on into a file that is no longer the database',
    place,
    '        this.#assertInPlace()\n        return results',
    '        return results',
  ),
  files(
    'file-gone',
    'nobody sees that the file is gone',
    place,
    'if (found === undefined) throw',
    'if (found === undefined) return\n    if (false) throw',
  ),
  files(
    'file-replaced',
    'nobody sees that another file is in its place',
    place,
    'if (found.ino !== opened.ino || found.dev !== opened.dev) {',
    'if (false) {',
  ),
  files(
    'file-mode',
    'everybody on the machine may read the password hashes',
    ['test/http/hostile.test.ts'],
    `openSync(file, 'a', 0o600)`,
    `openSync(file, 'a', 0o644)`,
  ),
  files(
    'foreign-keys',
    'a session goes and its ids stay',
    ['test/auth/logoutSession.test.ts'],
    'foreign_keys = ON',
    'foreign_keys = OFF',
  ),
  // Opened for reading only, and told to query only: either keeps a reader from writing.
  files(
    'reader-read-only',
    'a read can write',
    writes,
    `open(file, { readonly: true }, cache)\n  connection.pragma('query_only = ON')`,
    'open(file, { readonly: false }, cache)',
  ),
  search(
    'search-index-added',
    'a group of new orders is found by no text',
    searches,
    '    this.#index.run()\n',
  ),
  search('search-resume', 'no order is found by text any more', searches, '    this.#resume.run()\n'),
  inFile('server/db/sqlite/open.ts')(
    'turn-snapshot',
    'whoever has an answer does not find what it says',
    ['test/db/sqlite-turn.test.ts'],
    'const beforeResults = () => snapshot.end()',
    'const beforeResults = () => undefined',
  ),
  inFile('server/db/sqlite/turn.ts')(
    'quick-reads-time-limit',
    'one quick read lifts the limit of another',
    ['test/db/sqlite-readers.test.ts'],
    'if (this.#running === 0) this.#deadline = Number.POSITIVE_INFINITY',
    'this.#deadline = Number.POSITIVE_INFINITY',
  ),
  inFile('server/db/sqlite/reader.ts')(
    'read-time-limit',
    'one read runs for as long as it likes',
    ['test/db/sqlite-readers.test.ts'],
    'performance.now() > deadline)',
    'performance.now() > deadline + 6_000)',
  ),
  turns(
    'reads-of-one-caller',
    'one caller fills the queue of all',
    ['test/db/sqlite-readers.test.ts'],
    ' || queue.length >= waitingOfCaller',
  ),
  turns(
    'reads-at-once-of-one-caller',
    'the long lists of one caller take every turn',
    ['test/db/turns.test.ts'],
    '>= atOnceOfCaller) continue',
    '> 1_000_000) continue',
  ),
  {
    ...inFile('server/db/postgres/open.ts')(
      'lists-leave-connections',
      'long lists take all connections, and writes get none',
      ['test/faults/postgres-lists.test.ts'],
      'turns.run(caller, () => runRead(snapshotsWithin(limitMilliseconds), reads, name, input))',
      'runRead(snapshotsWithin(limitMilliseconds), reads, name, input)',
      {
        file: 'server/db/postgres/open.ts',
        from: 'limitMilliseconds, caller })',
        to: 'limitMilliseconds })',
      },
    ),
    engine: 'postgres',
  },
]
