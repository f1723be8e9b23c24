import { answerOf, int32, text } from './answers.ts'
import { Type } from './schema.ts'

/** The JSON forms of WebAuthn Level 3 that several slices answer. */
export const challenge = text('Can be signed once, within five minutes.', 'Y291bnRlcnNpZ246c2lnbi1pbjox')
export const timeout = int32('How long a browser may take, in milliseconds.', 300_000)
export const userVerification = Type.Unsafe<'required'>({
  type: 'string',
  enum: ['required'],
  description: 'The authenticator checks who touches it.',
  examples: ['required'],
})
export const rpId = text('Host name of the public address.', 'orders.example.com')
export const credentials = (description: string) =>
  Type.Array(
    Type.Object({ type: text('`public-key`.', 'public-key'), id: text('Id.', 'Aq7n3v0yT1u8w7x6') }),
    {
      description,
    },
  )

export const PasskeyRequestOptions = answerOf(
  'PasskeyRequestOptions',
  '`PublicKeyCredentialRequestOptionsJSON` of WebAuthn Level 3.',
  {
    challenge,
    timeout,
    rpId,
    allowCredentials: credentials('The passkeys that may answer; empty for any.'),
    userVerification,
  },
)
