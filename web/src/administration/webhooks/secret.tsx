import { useState } from 'react'
import { Button } from 'react-aria-components/Button'
import { useAction } from '../../auth/action.ts'
import { Check } from '../../ui/check.tsx'
import { formatInstant } from '../../ui/format.ts'
import { Section } from '../../ui/section.tsx'
import { Refused, ToCopy } from '../pieces.tsx'
import { WebhookSecretShown } from './add.tsx'
import { rotateWebhookSecret, type Webhook } from './queries.ts'

/** The keys that verify its messages. */
export function Secret({ webhook }: { webhook: Webhook }) {
  const { id, publicKeys, previousSecretUntilUtc } = webhook
  const [dropOld, setDropOld] = useState(false)
  const rotating = useAction(() => rotateWebhookSecret(id, dropOld))
  return (
    <Section title="Signatures">
      <p className="soft">
        The receiver verifies each message with the secret or with the public key, which need not be kept
        secret.
      </p>
      {publicKeys.map((publicKey, index) => (
        <ToCopy key={publicKey} label={index === 0 ? 'Public key' : 'Old public key'} text={publicKey} />
      ))}
      {previousSecretUntilUtc && (
        <p>Until {formatInstant(previousSecretUntilUtc)}, messages are also signed with the old secret.</p>
      )}
      {rotating.isSuccess && <WebhookSecretShown key={rotating.data} secret={rotating.data} />}
      <Check isOn={dropOld} onTurn={setDropOld}>
        End the old secret at once, not after 24 hours
      </Check>
      <Refused failure={rotating.error} />
      <div className="row">
        <Button className="button" onPress={() => rotating.act()}>
          Create new secret
        </Button>
      </div>
    </Section>
  )
}
