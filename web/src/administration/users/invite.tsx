import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { formatInstant } from '../../ui/format.ts'
import { Frame } from '../frame.tsx'
import { Refused, RoleChecks, ShownOnce, TextField } from '../pieces.tsx'
import { inviteUser, type UserLink } from '../queries.ts'

/** A new user, and the link by which they set their password. */
export function InviteView() {
  const [userName, setUserName] = useState('')
  const [email, setEmail] = useState('')
  const [roles, setRoles] = useState<string[]>([])
  const inviting = useMutation({ mutationFn: () => inviteUser({ userName, email, roles }) })

  function submit(event: FormEvent) {
    event.preventDefault()
    if (!inviting.isPending) inviting.mutate()
  }
  if (inviting.isSuccess) {
    const { id, link } = inviting.data
    return (
      <Frame title="Invite somebody">
        <div className="card card-stack">
          <p>{userName} now has an account, but no password yet.</p>
          <LinkShown link={link} />
          <div className="row">
            <Link className="button" to="/accounts/users/$id" params={{ id: String(id) }}>
              Open the account
            </Link>
          </div>
        </div>
      </Frame>
    )
  }
  return (
    <Frame title="Invite somebody" lead="You get a link to pass on. No email is sent.">
      <form className="card card-stack" onSubmit={submit}>
        <TextField label="Email" type="email" value={email} isRequired onChange={setEmail} />
        <TextField
          label="User name"
          value={userName}
          isRequired
          hint="Starts with a letter; then letters, digits and . _ - may follow. It is shown on orders and in the log."
          onChange={setUserName}
        />
        <RoleChecks held={roles} onChange={setRoles} />
        <Refused failure={inviting.error} />
        <div className="row">
          <button type="submit" className="button button-primary" aria-disabled={inviting.isPending}>
            {inviting.isPending ? 'Inviting …' : 'Invite'}
          </button>
          <Link className="button button-quiet" to="/accounts">
            Cancel
          </Link>
        </div>
      </form>
    </Frame>
  )
}

export function LinkShown({ link: { link, expiresAtUtc } }: { link: UserLink }) {
  return (
    <ShownOnce label="Link" text={link}>
      <p>
        Pass it on in a way that you trust. Whoever opens it can set the password once, until{' '}
        {formatInstant(expiresAtUtc)}. Earlier links no longer work.
      </p>
    </ShownOnce>
  )
}
