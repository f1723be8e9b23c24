import { answerOf, flag, instant, int32, nullable, text } from '../../http/answers.ts'
import {
  anyText,
  bodyOf,
  booleanField,
  exactBodyOf,
  Fault,
  formOf,
  instantField,
  int32Field,
  jsonOrForm,
  type Parsed,
  positiveInt32Field,
  queryOf,
  refined,
  textField,
} from '../../http/fields.ts'
import { pageSchema } from '../../http/paging.ts'
import { permissionSchema } from '../../http/problem-schema.ts'
import { Type } from '../../http/schema.ts'
import { beginningField } from '../../http/text.ts'
import { type MailSettings, waitingChoices } from '../../mail/mail.ts'
import { Problem } from '../../problems/problems.ts'
import type { GivenAgain } from '../login.ts'
import { newEmailField, optional } from './administration/fields.ts'
import { passkeyAnswer } from './passkeys/schemas.ts'

const emailPattern = /^[^@\p{Cc}]+@[^@\p{Cc}]+$/u

/** Returned in lower case, as emails are stored and compared, without the spaces around a pasted one. */
const email = refined(
  textField(3, 254),
  text(
    'Email address of the account: 3 to 254 characters with one `@`. Case and outer spaces are ignored.',
    'operator@example.com',
    {
      minLength: 3,
      maxLength: 254,
      pattern: '^[^@\\u0000-\\u001f\\u007f-\\u009f]+@[^@\\u0000-\\u001f\\u007f-\\u009f]+$',
    },
  ),
  (given) =>
    emailPattern.test(given)
      ? given.trim().toLowerCase()
      : new Fault('format', 'must have one @ between non-empty sides and no control characters.'),
)

const password = textField(
  1,
  256,
  'The password, unchanged: 1 to 256 characters.',
  'countersign-demo-operator',
)

export const LoginSessionCommand = bodyOf('LoginSessionCommand', 'Signs a browser in.', { email, password })
export const TokenLoginCommand = bodyOf('TokenLoginCommand', 'Signs a mobile or native app in.', {
  email,
  password,
})
export const ConfirmSessionCommand = bodyOf(
  'ConfirmSessionCommand',
  'Gives the password or a passkey again: one of the two.',
  { password: optional(password), credential: optional(passkeyAnswer) },
)

type ParsedOf<P> = P extends Parsed<infer T> ? T : never

/** Throws `validation-failed` unless the body has exactly one of its members. */
export function givenAgain({ password, credential }: ParsedOf<typeof ConfirmSessionCommand>): GivenAgain {
  if (password !== null && credential === null) return { password }
  if (password === null && credential !== null) return { credential }
  const [code, rule] = password === null ? ['required', 'is required, or'] : ['excluded', 'cannot come with']
  const errors = [{ pointer: '#/password', code, detail: `password ${rule} credential.` }]
  throw new Problem('validation-failed', { errors })
}

const newPassword = textField(
  15,
  256,
  '15 to 256 characters. Judged by its length and by how soon it would be guessed, not by its composition: no common password, and not mainly the name or email of the account.',
  'seven grey herons by the weir',
)

export const ChangePasswordCommand = bodyOf('ChangePasswordCommand', "Replaces the caller's password.", {
  currentPassword: optional(password),
  newPassword,
})
export const RequestLinkCommand = bodyOf(
  'RequestLinkCommand',
  'Asks for a link to set a forgotten password.',
  { email },
)
export const linkToken = textField(
  1,
  512,
  'The `token` of the link.',
  'aQ2m5Yd0nK8tR1vXc7Zb4Ue9Wp3Ls6Hf0Gj2Ti5Oy8E',
)
export const UseLinkCommand = bodyOf('UseLinkCommand', 'Sets the password.', {
  token: linkToken,
  newPassword,
})
export const CheckLinkCommand = bodyOf('CheckLinkCommand', 'Asks about a link.', { token: linkToken })
export const ChangeEmailCommand = bodyOf('ChangeEmailCommand', 'Asks for another email.', {
  email: newEmailField,
})
export const UseEmailLinkCommand = bodyOf(
  'UseEmailLinkCommand',
  'Confirms the email. Gives the password or a passkey: one of the two.',
  { token: linkToken, password: optional(password), credential: optional(passkeyAnswer) },
)
const refreshToken = textField(
  1,
  512,
  'The refresh token of the last pair. It works once.',
  'Vd7sMZbAt0cNhyYHn2xPHdLTmWpVrkGSzX2ohmDzyaU',
)
const scope = optional(textField(1, 1024, 'There are no scopes: it is ignored.'))
export const RefreshTokenCommand = jsonOrForm(
  bodyOf('RefreshTokenCommand', 'Uses a refresh token, once.', { refreshToken }),
  formOf('RefreshTokenForm', 'The same in the form of OAuth (RFC 6749 §6).', {
    grant_type: textField(1, 256, '`refresh_token`, the only grant.', 'refresh_token'),
    refresh_token: optional(refreshToken),
    scope,
  }),
)
const clientId = textField(1, 64, 'Name of the service client.', 'demo-service')
const clientSecret = textField(1, 256, 'Secret of the service client.', 'countersign-demo-service-secret')
export const ClientTokenCommand = jsonOrForm(
  bodyOf('ClientTokenCommand', 'Identifies a service.', { clientId, clientSecret }),
  formOf('ClientTokenForm', 'The same in the form of OAuth (RFC 6749 §4.4.2).', {
    grant_type: textField(1, 256, '`client_credentials`, the only grant.', 'client_credentials'),
    scope,
    client_id: optional(clientId),
    client_secret: optional({
      ...clientSecret,
      schema: {
        ...clientSecret.schema,
        description: 'Secret of the service client, unless it is sent by Basic.',
      },
    }),
  }),
)

export const RevocationForm = formOf('RevocationForm', 'Ends a token (RFC 7009 §2.1).', {
  token: textField(
    1,
    8192,
    'A refresh token, the newest of its family or an older one; or an access token, which expires by itself.',
    'Vd7sMZbAt0cNhyYHn2xPHdLTmWpVrkGSzX2ohmDzyaU',
  ),
  token_type_hint: optional(
    textField(1, 256, 'Not needed: the token itself shows its kind.', 'refresh_token'),
  ),
})

export const OAuthFailure = answerOf(
  'OAuthFailure',
  'A failure in the form of OAuth, with the members of the problem.',
  {
    error: text('Error code of RFC 6749 §5.2.', 'invalid_client'),
    error_description: text('The cause.', 'Check both. The secret may have been rotated.'),
  },
)

export const OAuthToken = answerOf('OAuthToken', 'The answer to a form (RFC 6749 §5.1).', {
  access_token: text('The access token.', 'eyJhbGciOiJSUzI1NiIsInR5cCI6ImF0K2p3dCJ9...'),
  token_type: text('How the token is sent.', 'Bearer', { enum: ['Bearer'] }),
  expires_in: Type.Unsafe<number>({
    type: 'integer',
    description: 'Life of the access token in seconds.',
    examples: [900],
  }),
  refresh_token: Type.Optional(text('Only from a refresh: it serves once.', 'rt_...')),
  scope: Type.Optional(text('Empty, if a scope was asked for: there are none.', '')),
})

const principalId = int32('Id of the account; users and services share one sequence.', 2)
const userName = text('User name, or the clientId of a service.', 'operator')
const roles = Type.Array(Type.String(), {
  description: 'Roles at the time when the credential was issued.',
  examples: [['Operator']],
})

export const AuthenticatedUser = answerOf('AuthenticatedUser', undefined, {
  id: principalId,
  userName,
  email: text('Email address of the account.', 'operator@example.com'),
  roles,
})

export const CurrentUserResponse = answerOf('CurrentUserResponse', undefined, {
  id: principalId,
  userName,
  roles,
})

export const CurrentUserPermissions = answerOf('CurrentUserPermissions', undefined, {
  permissions: Type.Array(permissionSchema, {
    uniqueItems: true,
    description: 'Permissions of the caller, in alphabetical order.',
    examples: [['Orders.Create', 'Orders.Read']],
  }),
})

export const OwnAccount = answerOf('OwnAccount', undefined, {
  id: principalId,
  userName,
  email: text('Email address of the account.', 'operator@example.com'),
  roles,
  timeZone: nullable(
    'string',
    'Time zone of audit stamps, as an IANA name, for requests that name none; null if none is stored.',
    'Europe/Berlin',
  ),
  hasPassword: flag(
    'Whether the account has a password; without one it signs in by passkey or company account.',
    true,
  ),
  hasCompanyAccount: flag('Whether a company account is linked.', false),
})

const SignIn = answerOf('SignIn', 'A session or a token family, which began when a password was given.', {
  id: text('Id of the session or token family; not a secret.', 'Zr3mQe0bT1u8y7w6v5s4rA'),
  kind: Type.Unsafe<'session' | 'tokens'>({
    type: 'string',
    enum: ['session', 'tokens'],
    description: '`session` of a browser, or `tokens` of another app.',
    examples: ['session'],
  }),
  userAgent: nullable(
    'string',
    'Name that the software gave itself when the password was given.',
    'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0',
    { maxLength: 256 },
  ),
  createdAtUtc: instant('When it began.', '2026-11-20T09:30:00.000Z'),
  lastUsedAtUtc: instant(
    'Last use of a session, to the minute, or last refresh of tokens.',
    '2026-11-20T10:00:00.000Z',
  ),
  current: flag('Whether this request used it.', true),
})

export const PaginatedListOfSignIn = pageSchema('PaginatedListOfSignIn', SignIn)

export const CsrfTokenResponse = answerOf('CsrfTokenResponse', undefined, {
  token: text(
    'A cookie caller sends it as `X-XSRF-TOKEN` with every unsafe request.',
    '3q2-7wAAAAAAAAAAAAAAAA.5Y2mB0Xg1kq0cUZb4mI3Z0i8v0H1o3Q2m9n5b7d1e2E',
  ),
})

const accessToken = text(
  'A signed JWT of type `at+jwt` (RFC 9068), for `Authorization: Bearer`; its header names the algorithm.',
  'eyJhbGciOiJSUzI1NiIsInR5cCI6ImF0K2p3dCJ9.e30.c2lnbmF0dXJl',
)

export const TokenPair = answerOf('TokenPair', undefined, {
  accessToken,
  accessTokenExpiresAt: instant(
    'When the access token expires; equals its claim `exp`.',
    '2026-11-20T09:45:00.000Z',
  ),
  refreshToken: text(
    'Works once, for the next pair. Send one refresh at a time: a second use ends the whole family.',
    'Vd7sMZbAt0cNhyYHn2xPHdLTmWpVrkGSzX2ohmDzyaU',
  ),
})

export const ServiceAccessToken = answerOf('ServiceAccessToken', undefined, {
  accessToken,
  expiresAt: instant('When the access token expires; equals its claim `exp`.', '2026-11-20T10:30:00.000Z'),
})

const person = {
  id: int32('Id of the account.', 4),
  name: text('User name.', 'ann'),
}

export const Absence = answerOf(
  'Absence',
  'The first four members are null if there is no absence, or if it has ended.',
  {
    from: nullable('string', 'When it begins or began.', '2026-12-21T08:00:00.000Z', { format: 'date-time' }),
    until: nullable('string', 'When it ends.', '2027-01-04T08:00:00.000Z', {
      format: 'date-time',
    }),
    deputyId: nullable('integer', 'Id of the deputy.', 5),
    deputy: nullable('string', 'User name of the deputy.', 'bo'),
    standingInFor: Type.Array(
      Type.Object({ ...person, until: instant('When that absence ends.', '2027-01-04T08:00:00.000Z') }),
      { description: 'People who are absent now, can approve orders and have this account as deputy.' },
    ),
  },
)

export const SetAbsenceCommand = exactBodyOf('SetAbsenceCommand', 'The time of an absence, and the deputy.', {
  from: instantField(
    'When it begins (RFC 3339, UTC with Z). A past instant means now.',
    '2026-12-21T08:00:00Z',
  ),
  until: instantField(
    'When it ends (RFC 3339, UTC with Z): in the future, and at most 366 days after it begins.',
    '2027-01-04T08:00:00Z',
  ),
  deputyId: positiveInt32Field('Id of the deputy: another enabled user who may read orders.', 5),
})

export const DeputiesQuery = queryOf({ filter: beginningField })

export const Deputies = answerOf('Deputies', undefined, {
  items: Type.Array(Type.Object(person), { description: 'By name.' }),
})

const waitingWords =
  'Orders that wait for the approval of the account: `at-once` within a minute, `daily` all in one mail, or `never`.'
const hourWords = 'The hour of the daily mail in the time zone of the account: 0 to 23.'
const decidedWords = 'Whether there is mail when an order that the account created is approved or rejected.'
const notedWords =
  'Whether there is mail when someone else writes a note on an order that the account created, approved or noted.'

export const OwnMail = answerOf('OwnMail', 'Mail about orders that the account gets.', {
  waiting: Type.Unsafe<MailSettings['waiting']>({
    type: 'string',
    enum: [...waitingChoices],
    description: waitingWords,
    examples: ['daily'],
  }),
  hour: int32(hourWords, 8),
  decided: flag(decidedWords, true),
  noted: flag(notedWords, true),
  timeZone: text('The time zone of the hour and of times in mail, as an IANA name.', 'Europe/Berlin'),
})

export const SetOwnMailCommand = exactBodyOf(
  'SetOwnMailCommand',
  'Mail about orders that the account wants.',
  {
    waiting: refined(
      anyText,
      text(waitingWords, 'daily', { enum: [...waitingChoices] }),
      (given) =>
        waitingChoices.find((choice) => choice === given) ??
        new Fault('unknown', `must be one of ${waitingChoices.join(', ')}.`),
    ),
    hour: int32Field(0, 23, { pattern: '^(?:1?[0-9]|2[0-3])$', description: hourWords, examples: [8] }),
    decided: booleanField(decidedWords, true),
    noted: booleanField(notedWords, true),
  },
)
