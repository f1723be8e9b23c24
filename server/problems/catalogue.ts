/**
 * Every failure of the service, including the framework's own (RFC 9457). `title` is the same for every
 * occurrence; `remedy` says what a caller can do. docs/problems.md is generated from it.
 */
export const catalogue = {
  'malformed-json': {
    status: 400,
    title: 'The body is not valid JSON',
    remedy: 'Send one JSON value in UTF-8, without `__proto__` or `constructor` as a key.',
  },
  'validation-failed': {
    status: 400,
    title: 'Some fields are invalid',
    remedy: 'Correct every field that `errors` lists; each entry says where it is and which rule it broke.',
  },
  'unknown-parameter': {
    status: 400,
    title: 'A parameter has another name here',
    remedy: 'Use the name that `errors` gives for each parameter.',
  },
  'invalid-filter': {
    status: 400,
    title: 'The filter cannot be understood',
    remedy: 'Look at `errors[0].position` in the filter text; `expected` lists what could be there.',
  },
  'filter-too-expensive': {
    status: 400,
    title: 'The list took too long and was stopped',
    remedy: 'Narrow the filter: a status, a range of dates or a longer word.',
  },
  'result-too-large': {
    status: 400,
    title: 'Too many matches for an unpaged list',
    remedy: 'Use paging, or narrow the filter until `totalCount` is at most `limit`.',
  },
  'invalid-time-zone': {
    status: 400,
    title: 'The Time-Zone header is not a known time zone',
    remedy: 'Send an IANA name such as `Europe/Berlin`, or leave the header out.',
  },
  'invalid-idempotency-key': {
    status: 400,
    title: 'The Idempotency-Key header is malformed',
    remedy: 'Send one key of 1 to 255 printable ASCII characters, bare or in double quotes.',
  },
  'unsupported-grant-type': {
    status: 400,
    title: 'This grant type is not supported',
    remedy: 'Send `client_credentials` for the token of a service, or `refresh_token` to refresh.',
  },
  'invalid-grant': {
    status: 400,
    title: 'The refresh token is not valid',
    remedy: 'Sign in again. A refresh token works once.',
  },
  'mcp-headers-differ': {
    status: 400,
    title: 'The headers contradict the message',
    remedy: 'Send MCP-Protocol-Version, and Mcp-Method and Mcp-Name from revision 2026-07-28 on.',
  },
  'mcp-version-unsupported': {
    status: 400,
    title: 'This revision of the Model Context Protocol is not supported',
    remedy: 'Use one of `supported`.',
  },
  'bad-request': {
    status: 400,
    title: 'The request is not valid HTTP',
    remedy: 'Check the request line, the headers and the escapes in the URL.',
  },
  'authentication-required': {
    status: 401,
    title: 'A valid credential is required',
    remedy: 'Sign in, refresh the token, or send `Authorization: Bearer <token>`.',
  },
  'invalid-credentials': {
    status: 401,
    title: 'The email or password is wrong',
    remedy: 'Check both and try again. After several failures you have to wait.',
  },
  'invalid-client': {
    status: 401,
    title: 'The client id or secret is wrong',
    remedy: 'Check both. The secret may have been rotated.',
  },
  'invalid-refresh-token': {
    status: 401,
    title: 'The refresh token is not valid',
    remedy: 'Sign in again. A refresh token works once. Using it twice ends its whole family.',
  },
  'permission-denied': {
    status: 403,
    title: 'The caller lacks a permission',
    remedy: 'Ask an administrator for a role with the permission in `permission`.',
  },
  'not-for-services': {
    status: 403,
    title: 'A service cannot do this',
    remedy: 'Sign in as a person. A service has no sessions and no password.',
  },
  'recent-sign-in-needed': {
    status: 403,
    title: 'The last sign-in is too long ago',
    remedy:
      'Confirm the password (POST /v1/auth/session/confirm), or sign in again if you use tokens. Either counts for five minutes.',
  },
  'passkeys-unavailable': {
    status: 409,
    title: 'Passkeys need a host name',
    remedy: 'Use a host name in PUBLIC_URL: no passkey can belong to an IP address.',
  },
  'mail-unavailable': {
    status: 409,
    title: 'This service sends no mail',
    remedy: 'Ask an administrator for a link to set a new password, or set SMTP_URL.',
  },
  'passkey-invalid': {
    status: 400,
    title: 'The passkey cannot be added',
    remedy: 'Ask for new options and try again. They work once, within five minutes, in the same sign-in.',
  },
  'passkey-counter': {
    status: 403,
    title: 'The passkey may have been copied',
    remedy:
      'Its counter is behind that of its last use. Sign in in another way, remove the passkey, add a new one, and tell an administrator.',
  },
  'passkey-not-found': {
    status: 404,
    title: 'There is no such passkey',
    remedy: 'List the passkeys again. It may have been removed.',
  },
  'too-many-passkeys': {
    status: 409,
    title: 'This account has the maximum number of passkeys',
    remedy: 'Remove one that you no longer use.',
  },
  'last-credential': {
    status: 409,
    title: 'The account would have no way to sign in',
    remedy: 'Add a passkey or set a password first.',
  },
  'company-account-off': {
    status: 409,
    title: 'This service has no company account',
    remedy: 'Sign in by password or passkey, or set OIDC_ISSUER.',
  },
  'company-account-unreachable': {
    status: 503,
    title: 'The provider of the company account does not answer',
    remedy: 'Try again later. A password or a passkey works meanwhile.',
  },
  'company-account-refused': {
    status: 403,
    title: 'The provider of the company account let nobody in',
    remedy: 'Try again, and ask its administrator whether the account may use this service.',
  },
  'company-answer-invalid': {
    status: 502,
    title: 'The answer of the company account cannot be trusted',
    remedy: 'Tell an administrator: the log says what is wrong, and `oidc check` tries the settings.',
  },
  'company-attempt-invalid': {
    status: 400,
    title: 'This way to the company account has ended',
    remedy:
      'Begin again, in one tab. Each attempt works once, for ten minutes, in the browser that began it.',
  },
  'company-account-unknown': {
    status: 403,
    title: 'No account here is linked to the company account',
    remedy:
      'Sign in by password or passkey and link it under "My account", or ask an administrator for a one-time link.',
  },
  'company-account-taken': {
    status: 409,
    title: 'The company account is linked to another account here',
    remedy: 'Use your own company account, or ask an administrator to unlink it.',
  },
  'company-account-linked': {
    status: 409,
    title: 'The account has a company account already',
    remedy: 'Unlink that one first.',
  },
  'company-account-other': {
    status: 403,
    title: 'That is not the company account of this account',
    remedy: 'Use the company account that is linked, or a password or passkey.',
  },
  'company-email-unusable': {
    status: 403,
    title: 'The company account has no email that can be used',
    remedy: 'Ask an administrator for an account and a one-time link.',
  },
  'company-email-taken': {
    status: 409,
    title: 'Another account has the email of the company account',
    remedy:
      'If it is yours, sign in to it by password or passkey, and link the company account under "My account".',
  },
  'company-sign-in-not-recent': {
    status: 403,
    title: 'The provider does not say that you have just signed in',
    remedy: 'Confirm by password or passkey.',
  },
  'logout-token-invalid': {
    status: 400,
    title: 'The logout token is not valid',
    remedy: 'Send a new one by OpenID Connect Back-Channel Logout 1.0, for this client, once.',
  },
  'role-follows-claim': {
    status: 409,
    title: 'The role follows the company account',
    remedy:
      'Change it at the provider. It changes here when the person next signs in with the company account.',
  },
  'wrong-password': {
    status: 403,
    title: 'The password is wrong',
    remedy: 'Try again. A wrong password counts as a failed sign-in. After several you have to wait.',
  },
  'csrf-token-missing': {
    status: 403,
    title: 'The antiforgery token is missing',
    remedy: 'Fetch one with GET /v1/auth/csrf and send it as `X-XSRF-TOKEN`.',
  },
  'csrf-token-invalid': {
    status: 403,
    title: 'The antiforgery token does not belong to this session',
    remedy: 'Fetch a new one with GET /v1/auth/csrf and repeat the request.',
  },
  'cross-site-request': {
    status: 403,
    title: 'The request comes from another site',
    remedy: 'Send the request from the origin of the service, or without a browser.',
  },
  'self-approval': {
    status: 403,
    title: 'The creator cannot approve this order',
    remedy: 'Ask someone else to approve it. The approval policy of this order requires that.',
  },
  'service-approval': {
    status: 403,
    title: 'A service cannot approve this order',
    remedy: 'Ask a person to approve it. The approval policy of this order requires that.',
  },
  'role-needed': {
    status: 403,
    title: 'An approver with a certain role is still needed',
    remedy:
      'Ask someone with the role in `role` to approve it. The approval policy of this order requires that.',
  },
  'passkey-needed': {
    status: 403,
    title: 'The approval must be signed with a passkey',
    remedy:
      'Sign the answer of POST /v1/orders/decisions with a passkey and send it as Decision-Signature. Services cannot approve this order.',
  },
  'decision-signature-invalid': {
    status: 400,
    title: 'The signature does not fit this decision',
    remedy:
      'Read the order again and sign a new statement from POST /v1/orders/decisions. A statement serves once, within five minutes.',
  },
  'not-the-creator': {
    status: 403,
    title: 'Only the creator of an order can do this',
    remedy: 'Ask the creator, or reject the order.',
  },
  'route-not-found': {
    status: 404,
    title: 'No such route',
    remedy: 'Check the path. Paths are case-sensitive.',
  },
  'mcp-method-unknown': {
    status: 404,
    title: 'This revision of the Model Context Protocol has no such method here',
    remedy: 'Use the methods for tools and resources.',
  },
  'mcp-resource-unknown': {
    status: 404,
    title: 'No resource of the Model Context Protocol has this address',
    remedy: 'Use an address that resources/list or resources/templates/list gives.',
  },
  'order-not-found': { status: 404, title: 'No such order', remedy: 'Check the id.' },
  'document-not-found': {
    status: 404,
    title: 'No such document',
    remedy: 'List the documents of the order again.',
  },
  'view-not-found': {
    status: 404,
    title: 'No such view',
    remedy: 'Check the id. You can only see your own views.',
  },
  'sign-in-not-found': {
    status: 404,
    title: 'No such sign-in',
    remedy: 'List the sign-ins again. This one may have ended.',
  },
  'link-not-found': {
    status: 404,
    title: 'The link is not valid',
    remedy: 'A link works once, within 24 hours and until a newer one is made. Ask for a new one.',
  },
  'webhook-not-found': { status: 404, title: 'No such webhook', remedy: 'Check the id.' },
  'user-not-found': { status: 404, title: 'No such user', remedy: 'Check the id.' },
  'client-not-found': { status: 404, title: 'No such service client', remedy: 'Check the id.' },
  'value-not-found': {
    status: 404,
    title: 'The event has no such name or text',
    remedy: 'Check its number in the log.',
  },
  'customer-not-found': {
    status: 404,
    title: 'No order has such a customer',
    remedy: 'Check the name. Case is ignored.',
  },
  'role-not-found': { status: 404, title: 'No such role', remedy: 'Check the name. It is case-sensitive.' },
  'method-not-allowed': {
    status: 405,
    title: 'This path does not support the method',
    remedy: 'Use one of the methods in the `Allow` header.',
  },
  'request-timeout': {
    status: 408,
    title: 'The request did not arrive in time',
    remedy: 'Send it again. The whole request must arrive within 30 seconds.',
  },
  'order-not-pending': {
    status: 409,
    title: 'The order is not pending',
    remedy: 'Read the order again. `currentStatus` is its status now.',
  },
  'already-approved-by-you': {
    status: 409,
    title: 'You have already approved this order',
    remedy: 'Wait for another person to approve it. Each person counts once.',
  },
  'already-approved': {
    status: 409,
    title: 'Someone has approved the order',
    remedy: 'Its documents cannot change any more. Create another order, or ask for a rejection.',
  },
  'too-many-documents': {
    status: 409,
    title: 'The order has too many documents',
    remedy: 'Remove one first. An order can have up to 5.',
  },
  'too-many-notes': {
    status: 409,
    title: 'The order has too many notes',
    remedy: 'Read the notes it has. An order can have up to 1,000.',
  },
  'order-not-approved': {
    status: 409,
    title: 'The order is not approved',
    remedy: 'Only an approved order has a receipt.',
  },
  'order-not-replaceable': {
    status: 409,
    title: 'Only a rejected or withdrawn order can be replaced',
    remedy: 'Leave `replaces` out. `currentStatus` is the status of the order that it names.',
  },
  'already-replaced': {
    status: 409,
    title: 'Another order replaces this one',
    remedy: 'Read the column `replacedBy` of the order that `replaces` names.',
  },
  'concurrency-conflict': {
    status: 409,
    title: 'Another change came first',
    remedy: 'Read it again, and repeat what still makes sense.',
  },
  'view-name-taken': {
    status: 409,
    title: 'Another view has this name',
    remedy: 'Choose another name, or replace that view.',
  },
  'too-many-views': {
    status: 409,
    title: 'You have too many views',
    remedy: 'Delete one first. An account can have up to 25.',
  },
  'too-many-webhooks': {
    status: 409,
    title: 'There are too many webhooks',
    remedy: 'Delete one that is no longer needed. There can be up to 50.',
  },
  'webhook-key-missing': {
    status: 409,
    title: 'The service has no key for webhooks',
    remedy:
      'Ask an operator to set WEBHOOK_KEY_FILE (`countersign key generate --webhook` makes a key) and to start the service again.',
  },
  'name-taken': {
    status: 409,
    title: 'The name is taken',
    remedy: 'Choose another name. Users and services share one set of names, and case is ignored.',
  },
  'email-taken': {
    status: 409,
    title: 'Another user has this email',
    remedy: 'Find that user, or use another email.',
  },
  'last-administrator': {
    status: 409,
    title: 'Someone must be able to manage accounts',
    remedy: 'First let another user who can sign in manage accounts.',
  },
  'account-erased': {
    status: 409,
    title: 'The account was erased',
    remedy: 'Add another account for the person: an erased one never gets a name again.',
  },
  'account-disabled': {
    status: 409,
    title: 'The account is disabled',
    remedy: 'Enable it first.',
  },
  'role-held': {
    status: 409,
    title: 'The role is in use',
    remedy:
      'Take it from the accounts that have it (`accounts` is how many) and from the approval policy first. Pending orders that need it (`orders`) must be decided.',
  },
  'idempotency-in-progress': {
    status: 409,
    title: 'The first request with this key is still running',
    remedy: 'Repeat the same request after `Retry-After` seconds.',
  },
  'export-running': {
    status: 409,
    title: 'You already have an export running',
    remedy: 'Read it to its end, or end it, and try again. A caller can have one at a time.',
  },
  'document-erased': {
    status: 410,
    title: 'The document was erased',
    remedy: 'Its hash is still in the list of documents and in the log.',
  },
  'precondition-failed': {
    status: 412,
    title: 'It has changed since you read it',
    remedy: 'Read it again. Its current version is in the `ETag` header.',
  },
  'body-too-large': {
    status: 413,
    title: 'The body is too large',
    remedy: 'A body can have at most 64 KiB, a document 5 MiB.',
  },
  'uri-too-long': { status: 414, title: 'The URL is too long', remedy: 'A URL can have at most 8 KiB.' },
  'unsupported-media-type': {
    status: 415,
    title: 'The body has the wrong media type',
    remedy: 'Send JSON in UTF-8, unless the operation takes something else, and no `Content-Encoding`.',
  },
  'expectation-failed': {
    status: 417,
    title: 'The Expect header cannot be met',
    remedy: 'Leave the Expect header out, or send `Expect: 100-continue`.',
  },
  'misdirected-request': {
    status: 421,
    title: 'This server does not serve that host',
    remedy: 'A development server answers on loopback names only. See `--allow-remote-demo`.',
  },
  'unknown-role': {
    status: 422,
    title: 'A role does not exist',
    remedy: 'List the roles, and send only those.',
  },
  'not-an-owner': {
    status: 422,
    title: 'This account cannot own a service',
    remedy: 'Send the account id of an enabled person.',
  },
  'not-a-deputy': {
    status: 422,
    title: 'This person cannot be your deputy',
    remedy: 'Choose another: GET /v1/auth/absence/deputies lists people who are enabled and may read orders.',
  },
  'idempotency-key-reused': {
    status: 422,
    title: 'The idempotency key belongs to another request',
    remedy: 'Use a new key for every new request.',
  },
  'rate-limited': {
    status: 429,
    title: 'Too many requests',
    remedy: 'Wait `Retry-After` seconds.',
  },
  'too-many-streams': {
    status: 429,
    title: 'Too many streams at once',
    remedy: 'End one first. A caller can have up to four.',
  },
  'too-many-attempts': {
    status: 429,
    title: 'Too many failed sign-ins',
    remedy: 'Wait `Retry-After` seconds. No password is checked until then.',
  },
  'precondition-required': {
    status: 428,
    title: 'The If-Match header is missing',
    remedy: 'Read first, and send the `ETag` of what you read as `If-Match`.',
  },
  'headers-too-large': {
    status: 431,
    title: 'The header block is too large',
    remedy: 'A header block can have at most 16 KiB.',
  },
  'internal-error': {
    status: 500,
    title: 'The service failed unexpectedly',
    remedy: 'Report the `requestId`. The log has the cause.',
  },
  'database-unavailable': {
    status: 503,
    title: 'The database is not available',
    remedy: 'Repeat the request after `Retry-After` seconds.',
  },
  'timed-out': {
    status: 503,
    title: 'The request took too long and was stopped',
    remedy: 'Nothing was changed. Repeat the request after `Retry-After` seconds.',
  },
  'receipt-not-ready': {
    status: 503,
    title: 'The approval is still being recorded',
    remedy: 'Repeat the request after `Retry-After` seconds.',
  },
  'log-contradicted': {
    status: 503,
    title: 'Witnesses contradict the log',
    remedy:
      'The database seems to have gone back to an earlier state. Nothing is sealed or signed until an operator has restored it by `countersign restore`, or run `countersign log restored`. Everything else works.',
  },
  overloaded: {
    status: 503,
    title: 'The service is overloaded',
    remedy: 'Repeat the request after `Retry-After` seconds.',
  },
  'shutting-down': {
    status: 503,
    title: 'This instance is shutting down',
    remedy: 'Repeat the request. Another instance will answer.',
  },
} as const satisfies Record<string, { status: number; title: string; remedy: string }>

export type ProblemCode = keyof typeof catalogue
