import { useMutation, useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { type FormEvent, useId, useState } from 'react'
import { Button } from 'react-aria-components/Button'
import { SignIns } from '../../auth/sign-ins.tsx'
import { announce } from '../../ui/announce.ts'
import { FailureNote } from '../../ui/failure.tsx'
import { Frame } from '../frame.tsx'
import { AccountState, Refused, RoleChecks, TextField } from '../pieces.tsx'
import {
  changeUser,
  endUserSignIn,
  makeLink,
  signOutUser,
  type UserAccount,
  type UserChanges,
  userQuery,
  userSignInsQuery,
} from '../queries.ts'
import { LinkShown } from './invite.tsx'

/** One user: name, roles, the switch, a link, and where they are signed in. */
export function UserView() {
  const { id } = useParams({ strict: false })
  const { data, failureReason, refetch } = useQuery(userQuery(Number(id)))
  return (
    <Frame title={data?.user.userName ?? 'User'}>
      {data === undefined && failureReason !== null && (
        <FailureNote failure={failureReason} onRetry={() => void refetch()} />
      )}
      {data && (
        <>
          <Details key={data.etag} user={data.user} etag={data.etag} />
          <Access user={data.user} etag={data.etag} />
          <UserSignIns user={data.user} />
        </>
      )}
    </Frame>
  )
}

function Details({ user, etag }: { user: UserAccount; etag: string }) {
  const title = useId()
  const zones = useId()
  const [draft, setDraft] =
    useState<Required<Pick<UserAccount, 'userName' | 'email' | 'timeZone' | 'roles'>>>(user)
  const saving = useMutation({
    mutationFn: (changes: UserChanges) => changeUser(user.id, etag, changes),
    onSuccess: () => announce('Changes saved'),
  })
  const { userName, email, timeZone, roles } = draft
  const isSame =
    userName === user.userName &&
    email === user.email &&
    timeZone === user.timeZone &&
    [...roles].sort().join() === user.roles.join()

  function submit(event: FormEvent) {
    event.preventDefault()
    if (!saving.isPending && !isSame) saving.mutate({ userName, email, timeZone, roles })
  }
  return (
    <form className="card admin-card" aria-labelledby={title} onSubmit={submit}>
      <h2 id={title}>Account</h2>
      <TextField
        label="User name"
        value={userName}
        isRequired
        onChange={(text) => setDraft({ ...draft, userName: text })}
      />
      <TextField
        label="Email"
        type="email"
        value={email}
        isRequired
        onChange={(text) => setDraft({ ...draft, email: text })}
      />
      <TextField
        label="Time zone"
        value={timeZone ?? ''}
        list={zones}
        hint="For the times in the log. Leave it empty for that of the service."
        onChange={(text) => setDraft({ ...draft, timeZone: text === '' ? null : text })}
      />
      <datalist id={zones}>
        {Intl.supportedValuesOf('timeZone').map((zone) => (
          <option key={zone} value={zone} />
        ))}
      </datalist>
      <RoleChecks held={roles} onChange={(next) => setDraft({ ...draft, roles: next })} />
      <Refused failure={saving.error} />
      <div className="row">
        <button type="submit" className="button button-primary" aria-disabled={saving.isPending || isSame}>
          {saving.isPending ? 'Saving …' : 'Save'}
        </button>
      </div>
    </form>
  )
}

function Access({ user, etag }: { user: UserAccount; etag: string }) {
  const title = useId()
  const { id, enabled, hasPassword, userName } = user
  const linking = useMutation({ mutationFn: () => makeLink(id) })
  const switching = useMutation({
    mutationFn: () => changeUser(id, etag, { enabled: !enabled }),
    onSuccess: () => announce(`${userName} is ${enabled ? 'disabled' : 'enabled'}`),
  })
  return (
    <section className="card admin-card" aria-labelledby={title}>
      <div className="row row-between">
        <h2 id={title}>Access</h2>
        <AccountState enabled={enabled} hasPassword={hasPassword} />
      </div>
      <p className="soft">
        {hasPassword
          ? 'If the user has forgotten the password, a link lets them set another.'
          : 'There is no password yet: a link lets the user set one.'}{' '}
        Disabling signs the user out everywhere.
      </p>
      {linking.isSuccess && <LinkShown key={linking.data.link} link={linking.data} />}
      <Refused failure={linking.error ?? switching.error} />
      <div className="row">
        {enabled && (
          <Button className="button" onPress={() => linking.isPending || linking.mutate()}>
            Make a link
          </Button>
        )}
        <Button className="button" onPress={() => switching.isPending || switching.mutate()}>
          {enabled ? 'Disable' : 'Enable'}
        </Button>
      </div>
    </section>
  )
}

function UserSignIns({ user: { id, userName } }: { user: UserAccount }) {
  const found = useQuery(userSignInsQuery(id))
  return (
    <SignIns
      title={`Where ${userName} is signed in`}
      found={found}
      endOne={(session) => endUserSignIn(id, session)}
      endMany={() => signOutUser(id)}
      many={{ label: 'Sign out everywhere', done: `${userName} is signed out everywhere.` }}
    />
  )
}
