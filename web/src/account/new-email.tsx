import { Link } from '@tanstack/react-router'
import { type ComponentProps, useState } from 'react'
import { client } from '../api/client.ts'
import { problemOf } from '../api/problem.ts'
import { knowsPasskeys, signInOptions, touch } from '../auth/passkeys.ts'
import { ProofForm } from '../auth/proof.tsx'
import { BrokenLink, LinkPage, type LinkParts } from './link.tsx'

/** Where the link to a new email leads. Nothing is confirmed without the password or a passkey. */
export function NewEmailView() {
  return <LinkPage title="Confirm your email" form={Confirmation} broken={Broken} />
}

const Broken = () => <BrokenLink used="If you have confirmed the email already, just sign in with it." />

const passkey = { isKnown: false, give: async () => touch(await signInOptions()) }

function Confirmation({ token, email }: LinkParts) {
  const [end, setEnd] = useState<'changed' | 'broken'>()
  const send: ComponentProps<typeof ProofForm>['send'] = async (given) => {
    try {
      await client.POST('/v1/auth/email/use', { body: { token, ...given } })
      setEnd('changed')
    } catch (failure) {
      if (!problemOf(failure, 'link-not-found')) throw failure
      setEnd('broken')
    }
  }
  if (end === 'broken') return <Broken />
  if (end === 'changed')
    return (
      <>
        <p role="status">Your email has been changed. Sign in with {email} from now on.</p>
        <Link to="/account" className="button" replace>
          My account
        </Link>
      </>
    )
  return (
    <ProofForm
      passkey={knowsPasskeys ? passkey : undefined}
      send={send}
      labels={['Confirm email', 'Confirming …']}
    >
      <p>
        To make {email} the email of your account, enter its password{knowsPasskeys && ' or use a passkey'}.
      </p>
    </ProofForm>
  )
}
