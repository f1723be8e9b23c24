import { useMutation, useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useId } from 'react'
import { Button } from 'react-aria-components/Button'
import { SignIns } from '../../auth/sign-ins.tsx'
import { announce } from '../../ui/announce.ts'
import { FailureNote } from '../../ui/failure.tsx'
import { DraftForm } from '../form.tsx'
import { Frame } from '../frame.tsx'
import { AccountState, Refused, RoleChecks, TextField } from '../pieces.tsx'
import {
  changeUser,
  endUserSignIn,
  makeLink,
  signOutUser,
  type UserAccount,
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
          <Details key={data.user.id} user={data.user} etag={data.etag} />
          <Access user={data.user} etag={data.etag} />
          <UserSignIns user={data.user} />
        </>
      )}
    </Frame>
  )
}

const fieldsOf = ({ userName, email, timeZone, roles }: UserAccount) => ({ userName, email, timeZone, roles })

function Details({ user, etag }: { user: UserAccount; etag: string }) {
  const zones = useId()
  return (
    <DraftForm
      title="Account"
      loaded={fieldsOf(user)}
      etag={etag}
      send={(values, tag) => changeUser(user.id, tag, values)}
    >
      {({ userName, email, timeZone, roles }, change) => (
        <>
          <TextField
            label="User name"
            value={userName}
            isRequired
            onChange={(text) => change({ userName: text })}
          />
          <TextField
            label="Email"
            type="email"
            value={email}
            isRequired
            onChange={(text) => change({ email: text })}
          />
          <TextField
            label="Time zone"
            value={timeZone ?? ''}
            list={zones}
            hint="For the times in the log. Leave it empty to use the time zone of the service."
            onChange={(text) => change({ timeZone: text === '' ? null : text })}
          />
          <datalist id={zones}>
            {Intl.supportedValuesOf('timeZone').map((zone) => (
              <option key={zone} value={zone} />
            ))}
          </datalist>
          <RoleChecks held={roles} onChange={(next) => change({ roles: next })} />
        </>
      )}
    </DraftForm>
  )
}

function Access({ user, etag }: { user: UserAccount; etag: string }) {
  const title = useId()
  const { id, enabled, hasPassword, userName } = user
  const linking = useMutation({ mutationFn: () => makeLink(id) })
  const switching = useMutation({
    mutationFn: (next: boolean) => changeUser(id, etag, { enabled: next }),
    onSuccess: (_, isEnabled) => announce(`${userName} is ${isEnabled ? 'enabled' : 'disabled'}`),
  })
  return (
    <section className="card card-stack" aria-labelledby={title}>
      <div className="row row-between">
        <h2 id={title}>Access</h2>
        <AccountState enabled={enabled} hasPassword={hasPassword} />
      </div>
      <p className="soft">
        {hasPassword
          ? 'If the user has forgotten the password, a link lets them set a new one.'
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
        <Button className="button" onPress={() => switching.isPending || switching.mutate(!enabled)}>
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
