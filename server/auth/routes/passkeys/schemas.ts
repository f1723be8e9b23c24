import { answerOf, flag, instant, int32, nullable, text } from '../../../http/answers.ts'
import { anyText, bodyOf, exactBodyOf, Fault, type Field, objectOf, refined } from '../../../http/fields.ts'
import { pageSchema } from '../../../http/paging.ts'
import { Type } from '../../../http/schema.ts'
import { legibleText } from '../../../http/text.ts'
import { challenge, credentials, rpId, timeout, userVerification } from '../../../http/webauthn.ts'
import { optional } from '../administration/fields.ts'

/** Base64url without padding, as the JSON forms of WebAuthn have it. */
function base64urlField(maximum: number, description: string, example: string): Field<string> {
  const pattern = `^[A-Za-z0-9_-]{1,${maximum}}$`
  const form = new RegExp(pattern)
  return refined(anyText, text(description, example, { pattern }), (given) =>
    form.test(given) ? given : new Fault('format', `must be 1 to ${maximum} characters of base64url.`),
  )
}

const credentialId = base64urlField(1364, 'Id of the passkey.', 'Aq7n3v0yT1u8w7x6')
const clientDataJSON = base64urlField(
  4096,
  'What the browser saw: type, challenge and origin.',
  'eyJ0eXBlIjoi',
)

/** `AuthenticationResponseJSON` of WebAuthn Level 3; what else it has is ignored. */
export const passkeyAnswer = objectOf(
  {
    id: credentialId,
    response: objectOf(
      {
        clientDataJSON,
        authenticatorData: base64urlField(4096, 'Data of the authenticator.', 'SZYN5YgOjGh0NBcP'),
        signature: base64urlField(1024, 'The signature of both.', 'MEUCIQDvX3pC'),
        userHandle: optional(base64urlField(86, 'The handle of the account.', 'YWNjb3VudCAy')),
      },
      { description: 'Answer of the authenticator.' },
    ),
  },
  { description: '`AuthenticationResponseJSON` of WebAuthn Level 3.' },
)

export const PasskeySignInCommand = bodyOf('PasskeySignInCommand', 'Signs in by passkey.', {
  credential: passkeyAnswer,
})

export const AddPasskeyCommand = exactBodyOf('AddPasskeyCommand', 'A new passkey.', {
  name: legibleText(64, 'Name given by its owner.', 'Phone'),
  credential: objectOf(
    {
      id: credentialId,
      response: objectOf(
        {
          clientDataJSON,
          attestationObject: base64urlField(16_384, 'The new key, and its authenticator.', 'o2NmbXRkbm9uZQ'),
        },
        { description: 'The new credential.' },
      ),
    },
    { description: '`RegistrationResponseJSON` of WebAuthn Level 3.' },
  ),
})

export const RenamePasskeyCommand = exactBodyOf('RenamePasskeyCommand', 'A new name for a passkey.', {
  name: legibleText(64, 'Name given by its owner.', 'Phone'),
})

export const PasskeyCreationOptions = answerOf(
  'PasskeyCreationOptions',
  '`PublicKeyCredentialCreationOptionsJSON` of WebAuthn Level 3.',
  {
    rp: Type.Object({ id: rpId, name: text('The service.', 'Countersign') }),
    user: Type.Object({
      id: text('The handle of the account.', 'YWNjb3VudCAy'),
      name: text('User name.', 'ann'),
      displayName: text('User name.', 'ann'),
    }),
    challenge,
    pubKeyCredParams: Type.Array(
      Type.Object({ type: text('`public-key`.', 'public-key'), alg: int32('COSE algorithm.', -7) }),
      { description: 'EdDSA, ES256 and RS256.' },
    ),
    timeout,
    excludeCredentials: credentials('The passkeys that the account has.'),
    authenticatorSelection: Type.Object({
      residentKey: text('The authenticator keeps the key: nobody types a name.', 'required'),
      requireResidentKey: flag('The same, for older browsers.', true),
      userVerification,
    }),
    attestation: text('`none`.', 'none'),
  },
)

export const AddPasskeyResponse = answerOf('AddPasskeyResponse', undefined, {
  id: text('Id of the passkey.', 'Aq7n3v0yT1u8w7x6'),
})

const Passkey = answerOf('Passkey', 'A public key by which its owner signs in and confirms.', {
  id: text('Id that the authenticator gave it.', 'Aq7n3v0yT1u8w7x6'),
  name: text('Name given by its owner.', 'Phone'),
  synced: flag('Whether its key may be on several devices, or on one only.', true),
  createdAtUtc: instant('When it was added.', '2026-11-20T09:30:00.000Z'),
  lastUsedAtUtc: nullable('string', 'When it was last used; null for never.', '2026-11-20T10:00:00.000Z', {
    format: 'date-time',
  }),
})

export const PaginatedListOfPasskey = pageSchema('PaginatedListOfPasskey', Passkey)
