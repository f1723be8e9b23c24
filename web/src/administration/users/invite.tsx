import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { sendsMail } from '../../auth/mail.ts'
import { formatInstant } from '../../ui/format.ts'
import { Note } from '../../ui/note.tsx'
import { AddAccount } from '../add.tsx'
import { ShownOnce } from '../pieces.tsx'
import { inviteUser, type UserLink } from '../queries.ts'
import { userFields } from './fields.ts'

const { email, userName } = userFields

/** A new user, and the link with which they set their password. */
export function InviteView() {
  return (
    <AddAccount
      title="Invite user"
      lead={
        sendsMail ? 'They get a link by mail.' : 'You get a link to send to them. No email is sent for you.'
      }
      looks={{ email, userName }}
      action={['Invite', 'Inviting …']}
      cancelTo="/accounts"
      send={({ texts, roles }) => inviteUser({ ...texts, roles })}
    >
      {({ id, link }, texts) => (
        <>
          <p>{texts.userName} now has an account, but no password yet.</p>
          <Invitation link={link} />
          <div className="row">
            <Link className="button" to="/accounts/users/$id" params={{ id: String(id) }}>
              Open the account
            </Link>
          </div>
        </>
      )}
    </AddAccount>
  )
}

/** An invitation that is mailed has no other link, unless the administrator asks for one. */
function Invitation({ link }: { link: UserLink }) {
  const [isShown, setShown] = useState(!sendsMail)
  if (isShown) return <LinkShown link={link} />
  const action = { name: 'Show a link', act: () => setShown(true) }
  return (
    <Note
      kind="waiting"
      role="status"
      title="The invitation is being mailed"
      lines={['If it does not arrive, send a link yourself.']}
      action={action}
    />
  )
}

export function LinkShown({ link: { link, expiresAtUtc } }: { link: UserLink }) {
  return (
    <ShownOnce label="Link" text={link}>
      <p>
        {sendsMail
          ? 'The account is mailed a link as well, unless it has a passkey. Using one ends the other. If you send this one, use a channel you trust. '
          : 'Send it over a channel you trust. '}
        Anyone who opens it can set the password, once, until {formatInstant(expiresAtUtc)}. Earlier links no
        longer work.
      </p>
    </ShownOnce>
  )
}
