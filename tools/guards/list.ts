import type { Kind } from './places.ts'

/**
 * The guards of security and integrity, under the test file in which a test must fail. Each says what the
 * broken service does, how it is broken, a part of the source at that place, and the enclosing function if
 * that part is ambiguous.
 */
type Guard = [broken: string, kind: Kind, source: string, within?: string]

export const guards: Record<string, Guard[]> = {
  'orders/life/approveOrder': [
    ['an approved order is approved again', 'where', 'conditionsOf(shape.name)', 'statusUpdate'],
    ['an approval overwrites an unseen version', 'where', 'shape.versions', 'statusUpdate'],
  ],
  'orders/idempotency': [
    ['the key of one request answers another', 'throw', 'idempotency-key-reused'],
    ['a key that is held is taken over', 'where', "expires_at', '<='", 'insertClaim'],
  ],
  'orders/createOrder': [
    ['a total is too great to be exact', 'never', 'whole.length'],
    ['a customer holds control characters', 'never', 'controlling.test'],
  ],
  'orders/listOrders': [['a list without paging has no end', 'never', 'unpagedLimit']],
  'orders/filter-faults': [['a filter nests until the stack ends', 'number', 'maximumNesting']],
  'faults/sqlite-disk': [['writes go on into a file that is gone', 'call', 'this.#assertInPlace']],
  'db/lease': [
    ['a lease is begun before its last term ends', 'where', "'leases.ends_at', '<='"],
    ['a holder goes on in a term that is over', 'where', "'term', '='", 'holdLease'],
  ],
  'db/sqlite-readers': [['one caller fills the queue of all', 'side', 'waitingOfCaller']],
  'auth/access-token': [
    ['any token of our key is an access token', 'property', 'typ: tokenType', 'verifySignature'],
    ['a token for another audience serves', 'property', 'audience:', 'verifySignature'],
    ['a token never ends', 'side', 'expiresAtSeconds', 'isCurrent'],
  ],
  'auth/signing-keys': [['a short key signs', 'never', 'bits < minimumModulusBits']],
  'auth/revocation': [
    ['a token outlives a change of credentials', 'side', 'credentialsChangedAt', 'grants'],
    [
      'a login that races with a disable succeeds',
      'where',
      "'credentials_changed_at', '='",
      'lockCredentials',
    ],
    ['a session outlives the credentials of its account', 'where', 'credentials_epoch', 'selectSession'],
    ['a token family outlives them', 'where', "'refresh_families.credentials_epoch'"],
    ['a removed role stays in sessions', 'call', 'takeRolesFromSessions', 'takeRoles'],
  ],
  'auth/administration/last-administrator': [
    ['nobody is left who may manage accounts', 'throw', 'last-administrator'],
  ],
  'auth/administration/changeUser': [
    ['a user is changed past what was seen', 'throw', 'precondition-failed', 'changeAccount'],
  ],
  'auth/administration/clients': [
    ['a service gets tokens after its end', 'side', 'hasEnded', 'checkClientSecret'],
  ],
  'auth/getCurrentUser': [
    ['a session that nobody uses stays', 'side', 'sessionIdleTtlSeconds', 'isOver'],
    ['a session has no absolute end', 'side', 'absoluteExpiresAt <= now'],
  ],
  'auth/refreshSession': [
    ['an id that was replaced serves on', 'side', 'isRetired'],
    ['a session has ids without end', 'call', 'makeRoomForId', 'refreshSession'],
  ],
  'auth/refreshToken': [
    ['a refresh token works twice', 'where', "'token_hash', '=', token.hash", 'rotate'],
    ['a token that was made up ends a family', 'side', '(token.isGenuine', 'countedToken'],
    ['a used token with another key is no reuse', 'where', 'newTokenHash', 'selectAccount'],
    ['a short key is guessed', 'number', 'repetitionKeyLength'],
  ],
  'auth/loginSession': [
    ['the cookie travels without TLS', 'text', 'Secure; HttpOnly'],
    ['another site signs its visitor in', 'throw', 'cross-site-request'],
  ],
  'auth/antiforgery': [
    ['another site writes by the cookie', 'call', 'assertNotForged'],
    ['any antiforgery token is good', 'throw', 'csrf-token-invalid'],
  ],
  'auth/login-throttle': [
    ['failed sign-ins make nobody wait', 'always', 'failures < freeTries'],
    ['many addresses guess at one account', 'call', 'input.accountHash', 'reserveLoginTry'],
    ['many networks of one owner guess at one account', 'call', 'networkPolicy', 'reserveLoginTry'],
    ['a disabled account signs in', 'side', 'found?.enabled'],
  ],
  'auth/issueServiceToken': [['any secret is the right one', 'side', 'matches', 'checkClientSecret']],
  'auth/issueServiceToken-form': [
    ['of two credentials one counts', 'call', 'assertOnce'],
    ['a form with another grant gets a token', 'throw', 'unsupported-grant-type'],
  ],
  'auth/revokeToken': [['a revocation ends all families', 'where', "'id', '='", 'endFamily']],
  'auth/passwords': [['sign-ins pile up without end', 'number', 'queueLimit']],
  'contract/routes-access': [
    ['every caller may do everything', 'throw', 'permissionDenied(access)'],
    ['a route without an access is served', 'never', 'config?.access === undefined'],
  ],
  'http/rate-limit': [['the requests of a caller are not counted', 'call', 'consumeCallerLimit']],
  'contract/routes-protocol': [
    ['a body reaches the prototype', 'never', 'hasForbiddenKey'],
    ['an answer may run scripts', 'text', "default-src 'none'; frame-anc"],
  ],
  'http/cors': [['every origin may read', 'side', 'origins.includes']],
  'http/start': [['production serves demo accounts', 'always', 'hasAccounts', 'prepareAccounts']],
}
