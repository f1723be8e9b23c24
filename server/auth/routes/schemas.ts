import {
  bodyOf,
  Fault,
  type Field,
  formOf,
  instantSchema,
  int32Schema,
  jsonOrForm,
  named,
  textField,
} from '../../http/fields.ts'
import { pageSchema } from '../../http/paging.ts'
import { permissionSchema } from '../../http/problem-schema.ts'
import { Type } from '../../http/schema.ts'
import { optional } from './administration/fields.ts'

const emailText = textField(3, 254, {})
const emailPattern = /^[^@\p{Cc}]+@[^@\p{Cc}]+$/u

/** Returned in lower case, as emails are stored and compared. */
const email: Field<string> = {
  schema: Type.String({
    minLength: 3,
    maxLength: 254,
    pattern: '^[^@\\u0000-\\u001f\\u007f-\\u009f]+@[^@\\u0000-\\u001f\\u007f-\\u009f]+$',
    description: 'Email address of the account: 3 to 254 characters with one `@`. Case is ignored.',
    examples: ['operator@example.com'],
  }),
  read(value) {
    const text = emailText.read(value)
    if (text instanceof Fault) return text
    if (!emailPattern.test(text))
      return new Fault('format', 'must have one @ between non-empty sides and no control characters.')
    return text.toLowerCase()
  },
}

const password = textField(1, 256, {
  description: 'The password, unchanged: 1 to 256 characters.',
  examples: ['countersign-demo-operator'],
})

export const LoginSessionCommand = bodyOf('LoginSessionCommand', 'Signs a browser in.', { email, password })
export const TokenLoginCommand = bodyOf('TokenLoginCommand', 'Signs a mobile or native app in.', {
  email,
  password,
})
export const ConfirmSessionCommand = bodyOf('ConfirmSessionCommand', 'Gives the password again.', {
  password,
})
const newPassword = textField(15, 256, {
  description:
    '15 to 256 characters. Judged by its length and by how soon it would be guessed, not by its composition: no common password, and not mainly the name or email of the account.',
  examples: ['seven grey herons by the weir'],
})

export const ChangePasswordCommand = bodyOf('ChangePasswordCommand', "Replaces the caller's password.", {
  currentPassword: password,
  newPassword,
})
export const UseLinkCommand = bodyOf('UseLinkCommand', 'Sets the password.', {
  token: textField(1, 512, {
    description: 'The `token` of the link.',
    examples: ['aQ2m5Yd0nK8tR1vXc7Zb4Ue9Wp3Ls6Hf0Gj2Ti5Oy8E'],
  }),
  newPassword,
})
export const RefreshTokenCommand = bodyOf('RefreshTokenCommand', 'Uses a refresh token, once.', {
  refreshToken: textField(1, 512, {
    description: 'The refresh token of the last pair. It works once.',
    examples: ['Vd7sMZbAt0cNhyYHn2xPHdLTmWpVrkGSzX2ohmDzyaU'],
  }),
})
const clientId = textField(1, 64, { description: 'Name of the service client.', examples: ['demo-service'] })
const clientSecret = textField(1, 256, {
  description: 'Secret of the service client.',
  examples: ['countersign-demo-service-secret'],
})
export const ClientTokenCommand = jsonOrForm(
  bodyOf('ClientTokenCommand', 'Identifies a service.', { clientId, clientSecret }),
  formOf('ClientTokenForm', 'The same in the form of OAuth (RFC 6749 §4.4.2).', {
    grant_type: textField(1, 256, {
      description: '`client_credentials`, the only grant.',
      examples: ['client_credentials'],
    }),
    scope: optional(textField(1, 1024, { description: 'There are no scopes: leave it out, or empty.' })),
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
  token: textField(1, 8192, {
    description: 'A refresh token: the newest of its family or an older one.',
    examples: ['Vd7sMZbAt0cNhyYHn2xPHdLTmWpVrkGSzX2ohmDzyaU'],
  }),
  token_type_hint: optional(
    textField(1, 256, {
      description: 'Not needed: the token itself shows its kind.',
      examples: ['refresh_token'],
    }),
  ),
})

export const OAuthFailure = named(
  'OAuthFailure',
  Type.Object(
    {
      error: Type.String({ description: 'Error code of RFC 6749 §5.2.', examples: ['invalid_client'] }),
      error_description: Type.String({
        description: 'What is wrong.',
        examples: ['Check both. The secret may have been rotated.'],
      }),
    },
    { description: 'A failure in the form of OAuth, with the members of the problem.' },
  ),
)

const principalId = int32Schema({
  description: 'Id of the account; users and services share one sequence.',
  examples: [2],
})
const userName = Type.String({
  description: 'User name, or the clientId of a service.',
  examples: ['operator'],
})
const roles = Type.Array(Type.String(), {
  description: 'Roles at the time when the credential was issued.',
  examples: [['Operator']],
})

export const AuthenticatedUser = named(
  'AuthenticatedUser',
  Type.Object({
    id: principalId,
    userName,
    email: Type.String({ description: 'Email address of the account.', examples: ['operator@example.com'] }),
    roles,
  }),
)

export const CurrentUserResponse = named(
  'CurrentUserResponse',
  Type.Object({ id: principalId, userName, roles }),
)

export const CurrentUserPermissions = named(
  'CurrentUserPermissions',
  Type.Object({
    permissions: Type.Array(permissionSchema, {
      uniqueItems: true,
      description: 'What the caller may do, in alphabetical order.',
      examples: [['Orders.Create', 'Orders.Read']],
    }),
  }),
)

export const OwnAccount = named(
  'OwnAccount',
  Type.Object({
    id: principalId,
    userName,
    email: Type.String({ description: 'Email address of the account.', examples: ['operator@example.com'] }),
    roles,
    timeZone: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description:
        'Time zone of audit stamps, as an IANA name, for requests that name none; null if none is stored.',
      examples: ['Europe/Berlin'],
    }),
  }),
)

const SignIn = named(
  'SignIn',
  Type.Object(
    {
      id: Type.String({
        description: 'Id of the session or token family; not a secret.',
        examples: ['Zr3mQe0bT1u8y7w6v5s4rA'],
      }),
      kind: Type.Unsafe<'session' | 'tokens'>({
        type: 'string',
        enum: ['session', 'tokens'],
        description: '`session` of a browser, or `tokens` of another app.',
        examples: ['session'],
      }),
      userAgent: Type.Unsafe<string | null>({
        type: ['string', 'null'],
        maxLength: 256,
        description: 'Name that the software gave itself when the password was given.',
        examples: ['Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0'],
      }),
      createdAtUtc: instantSchema({ description: 'When it began.', examples: ['2026-11-20T09:30:00.000Z'] }),
      lastUsedAtUtc: instantSchema({
        description: 'Last use of a session, to the minute, or last refresh of tokens.',
        examples: ['2026-11-20T10:00:00.000Z'],
      }),
      current: Type.Boolean({ description: 'Whether this request used it.', examples: [true] }),
    },
    { description: 'A session or a token family, which began when a password was given.' },
  ),
)

export const PaginatedListOfSignIn = pageSchema('PaginatedListOfSignIn', SignIn)

export const CsrfTokenResponse = named(
  'CsrfTokenResponse',
  Type.Object({
    token: Type.String({
      description: 'A cookie caller sends it as `X-XSRF-TOKEN` with every unsafe request.',
      examples: ['3q2-7wAAAAAAAAAAAAAAAA.5Y2mB0Xg1kq0cUZb4mI3Z0i8v0H1o3Q2m9n5b7d1e2E'],
    }),
  }),
)

const accessToken = Type.String({
  description:
    'A signed JWT of type `at+jwt` (RFC 9068), for `Authorization: Bearer`; its header names the algorithm.',
  examples: ['eyJhbGciOiJSUzI1NiIsInR5cCI6ImF0K2p3dCJ9.e30.c2lnbmF0dXJl'],
})

export const TokenPair = named(
  'TokenPair',
  Type.Object({
    accessToken,
    accessTokenExpiresAt: instantSchema({
      description: 'When the access token expires; equals its claim `exp`.',
      examples: ['2026-11-20T09:45:00.000Z'],
    }),
    refreshToken: Type.String({
      description:
        'Works once, for the next pair. Send one refresh at a time: a second use ends the whole family.',
      examples: ['Vd7sMZbAt0cNhyYHn2xPHdLTmWpVrkGSzX2ohmDzyaU'],
    }),
  }),
)

export const ServiceAccessToken = named(
  'ServiceAccessToken',
  Type.Object({
    accessToken,
    expiresAt: instantSchema({
      description: 'When the access token expires; equals its claim `exp`.',
      examples: ['2026-11-20T10:30:00.000Z'],
    }),
  }),
)
