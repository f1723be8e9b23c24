import { type Guard, inFile } from './guard.ts'

const connections = inFile('server/http/connections.ts')
const requestLog = inFile('server/http/request-log.ts')
const errors = inFile('server/http/errors.ts')
const log = inFile('server/log.ts')
const refusals = inFile('server/http/refusal-log.ts')
const accounts = inFile('server/auth/accounts/accounts.ts')

const ahead = ['test/http/connections.test.ts']
const lines = ['test/http/request-context.test.ts']

/** What one caller can make the service keep, do or write for him. */
export const resourceGuards: Guard[] = [
  connections(
    'requests-in-turn',
    'requests of one connection are answered at the same time',
    ahead,
    'if (connection.current === undefined) {',
    'if (connection !== undefined) {',
  ),
  connections(
    'requests-ahead',
    'any number of requests waits on a connection',
    ahead,
    'connection.waiting.length < waitingLimit',
    'connection.waiting.length >= 0',
  ),
  connections(
    'answer-time',
    'an answer may be read for ever',
    ahead,
    'startedAt < earliest) socket.destroy()',
    'startedAt < Number.NEGATIVE_INFINITY) socket.destroy()',
  ),
  connections(
    'answers-unread',
    'large answers that nobody reads are added to',
    ahead,
    'before > 0 && before + bytes > unreadLimitBytes',
    'before < 0',
  ),
  requestLog('log-path-length', 'the log takes paths of any length', lines, '.slice(0, repeatedPathLimit)'),
  errors('log-fragment', 'the log takes what stands behind a #', lines, '/[?#]/', '/[?]/'),
  log(
    'log-unread',
    'a reader of the log that stalls fills the memory',
    ['test/faults/log-reader.test.ts'],
    '      maxLength: unreadLimitBytes,\n',
  ),
  refusals(
    'log-flood',
    'each request that is none is a line of the log',
    ['test/auth/security-events.test.ts'],
    'if (this.#pausing) {',
    'if (this.#pausing && this.#leftOut < 0) {',
  ),
  accounts(
    'sign-out',
    'sign-out ends nothing',
    ['test/auth/revocation.test.ts'],
    '  await revokeCredentials(trx, [account.id], input.nowMilliseconds)\n  return { name: account.name }\n',
    '  return { name: account.name }\n',
  ),
]
