import { type Guard, inFile } from './guard.ts'

const tokens = inFile('server/auth/tokens/tokens.ts')
const refresh = inFile('server/auth/tokens/store.ts')
const who = inFile('server/auth/authenticate.ts')

const access = ['test/auth/access-token.test.ts']
const rotations = ['test/auth/refreshToken.test.ts']
const revocations = ['test/auth/revocation.test.ts']

/** Access and refresh tokens. Left out is an empty `sub`: no account has it, so nothing else comes of it. */
export const tokenGuards: Guard[] = [
  tokens('token-typ', 'any token of our key is an access token', access, '\n        typ: tokenType,'),
  tokens('token-iss', 'a token of another issuer serves', access, '\n        issuer: this.#issuer(),'),
  tokens('token-aud', 'a token for another audience serves', access, '\n        audience: this.#issuer(),'),
  tokens(
    'token-exp',
    'a token that was verified once serves for ever',
    access,
    'nowSeconds < token.expiresAtSeconds + clockToleranceSeconds',
    'token.expiresAtSeconds > 0',
  ),
  tokens(
    'token-iat',
    'a token of tomorrow serves',
    access,
    'token.issuedAtSeconds <= nowSeconds + clockToleranceSeconds',
    'token.issuedAtSeconds > 0',
  ),
  tokens(
    'token-sub',
    'a token without a subject is no refusal but a failure',
    access,
    `        typeof sub === 'string' &&\n        sub !== '' &&\n`,
    '',
    {
      file: 'server/auth/tokens/tokens.ts',
      from: `requiredClaims: ['exp', 'iat', 'sub', 'aud', 'iss']`,
      to: `requiredClaims: ['exp', 'iat', 'aud', 'iss']`,
    },
  ),
  // The key names its algorithm too, and alone keeps others out.
  tokens(
    'token-algorithms',
    'any algorithm that suits the key serves',
    access,
    '        algorithms: [this.#keys.algorithm],\n',
    '',
    {
      file: 'server/auth/tokens/keys.ts',
      from: `{ kty, use: 'sig', alg: algorithm, kid, n, e }`,
      to: `{ kty, use: 'sig', kid, n, e }`,
    },
  ),
  tokens(
    'token-kid',
    'a token that names no key serves',
    ['test/security/token-headers.test.ts', ...access],
    `        typeof protectedHeader.kid === 'string' &&\n`,
  ),
  tokens(
    'token-spelling',
    'one token has many spellings',
    access,
    '    if (!isCanonical(token)) return undefined\n',
  ),
  inFile('server/auth/tokens/keys.ts')(
    'key-length',
    'a short key signs',
    access,
    'if (bits < minimumModulusBits) return',
    'if (bits < 1) return',
  ),
  who(
    'revocation-by-date',
    'a token outlives a change of credentials',
    revocations,
    'isEnabled(state) && token.issuedAtSeconds * 1000 >= state.credentialsChangedAt',
    'isEnabled(state)',
  ),
  who(
    'disabled-account',
    'the mark of a disabled account counts for nothing',
    revocations,
    'return state?.enabled === true',
    'return state !== undefined',
  ),
  inFile('server/auth/accounts/directory.ts')(
    'directory-age',
    'what is remembered of an account is never read again',
    revocations,
    'return age >= 0 && age < this.#ttlMilliseconds',
    'return age >= 0',
  ),
  inFile('server/auth/accounts/directory.ts')(
    'directory-clock-back',
    'a clock that is set back keeps a memory alive',
    ['test/faults/clock.test.ts'],
    'return age >= 0 && age <',
    'return age <',
  ),
  who(
    'two-authorizations',
    'of two Authorization fields the first good one counts',
    access,
    `fields.length > 1 ? '' : bearerToken(authorization)`,
    'bearerToken(authorization)',
  ),
  who(
    'two-authorizations-remembered',
    'of two Authorization fields a remembered one counts',
    access,
    'authorization === undefined || fields.length > 1 ||',
    'authorization === undefined ||',
  ),
  who(
    'bearer-beside-cookie',
    'a bad bearer falls back to the cookie',
    ['test/auth/getCurrentUser.test.ts'],
    `return this.#bearer(fields.length > 1 ? '' : bearerToken(authorization))`,
    'return this.#bearer(bearerToken(authorization)).then((found) =>\n' +
      '      found.outcome === `valid` ? found : this.session(request))',
  ),
  refresh('refresh-once', 'a refresh token works twice', rotations, `    .where('used_at', 'is', null)\n`),
  refresh(
    'refresh-idle-end',
    'a refresh token works until its family ends',
    rotations,
    `    .where('expires_at', '>', nowMilliseconds)\n`,
  ),
  refresh(
    'refresh-revoked',
    'a family that was revoked goes on',
    rotations,
    `          .where('refresh_families.revoked_at', 'is', null)\n`,
    '',
    {
      file: 'server/auth/tokens/store.ts',
      from: `\n    .where('refresh_families.revoked_at', 'is', null)\n`,
      to: '\n',
    },
  ),
  refresh(
    'refresh-disabled',
    'a disabled account refreshes',
    revocations,
    `          .where('principals.enabled', '=', sql.lit(1)),\n`,
    '',
    {
      file: 'server/auth/tokens/store.ts',
      from: `\n    .where('principals.enabled', '=', sql.lit(1)),\n`,
      to: ',\n',
    },
  ),
  refresh(
    'refresh-reuse',
    'a family outlives the reuse of a token',
    rotations,
    `.set('revoked_at', input.nowMilliseconds)`,
    `.set('revoked_at', null)`,
  ),
  // No token of a family ends after it, and the family's own end is looked at.
  refresh(
    'refresh-family-end',
    'a family lives for as long as it is used',
    rotations,
    `          .where('refresh_families.expires_at', '>', unseenNumber(nowMilliseconds))\n`,
    '',
    {
      file: 'server/auth/tokens/store.ts',
      from: 'Math.min(input.tokenExpiresAt, family.expires_at)',
      to: 'input.tokenExpiresAt',
    },
  ),
  refresh(
    'families-limit',
    'a user has any number of families',
    ['test/auth/surplus.test.ts'],
    '  await endSurplusFamilies(trx, input)\n',
  ),
]
