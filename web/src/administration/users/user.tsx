import { useQuery } from '@tanstack/react-query'
import { Button } from 'react-aria-components/Button'
import { AbsenceInWords } from '../../account/standing-in.tsx'
import { useAction } from '../../auth/action.ts'
import { PasskeyList } from '../../auth/passkey-list.tsx'
import { SignIns } from '../../auth/sign-ins.tsx'
import { announce } from '../../ui/announce.ts'
import { Section } from '../../ui/section.tsx'
import { Access, AccountPage, Details } from '../page.tsx'
import { Refused } from '../pieces.tsx'
import {
  changeUser,
  endUserAbsence,
  endUserSignIn,
  isInvited,
  makeLink,
  removeUserPasskey,
  signOutUser,
  type UserAccount,
  userAbsenceQuery,
  userPasskeysQuery,
  userSignInsQuery,
  useUserAccount,
} from '../queries.ts'
import { userFields } from './fields.ts'
import { LinkShown } from './invite.tsx'

const users = { to: '/accounts', name: 'Users' } as const

/** One user: fields, roles, the switch, a link, and where they are signed in. */
export function UserView() {
  return (
    <AccountPage useAccount={useUserAccount} titleOf={(user) => user?.userName ?? 'User'} back={users}>
      {(user, etag) => (
        <>
          <UserDetails key={user.id} user={user} etag={etag} />
          <UserAccess user={user} etag={etag} />
          <UserAbsence user={user} />
          <UserPasskeys user={user} />
          <UserSignIns user={user} />
        </>
      )}
    </AccountPage>
  )
}

interface UserProps {
  user: UserAccount
  etag: string
}

function UserDetails({ user: { id, userName, name, email, timeZone, roles }, etag }: UserProps) {
  return (
    <Details
      title="Account"
      id={id}
      looks={userFields}
      loaded={{ texts: { userName, name: name ?? '', email, timeZone: timeZone ?? '' }, roles }}
      etag={etag}
      send={({ texts, roles: next }, tag) =>
        changeUser(id, tag, {
          ...texts,
          name: texts.name || null,
          timeZone: texts.timeZone || null,
          roles: next,
        })
      }
    />
  )
}

function UserAccess({ user, etag }: UserProps) {
  const { id, userName, enabled, hasPassword, hasCompanyAccount } = user
  const linking = useAction(() => makeLink(id))
  return (
    <Access
      name={userName}
      enabled={enabled}
      isInvited={isInvited(user)}
      onSwitch={(next) => changeUser(id, etag, { enabled: next })}
      failure={linking.error}
      words={
        <>
          <p className="soft">
            {hasPassword
              ? 'A link lets a user who has forgotten the password set a new one.'
              : 'There is no password yet. A link lets the user set one.'}{' '}
            {hasCompanyAccount && 'The user signs in with a linked company account. '}
            Disabling an account signs its user out everywhere.
          </p>
          {linking.isSuccess && <LinkShown key={linking.data.link} link={linking.data} />}
        </>
      }
      buttons={
        enabled && (
          <Button className="button" onPress={() => linking.act()}>
            {hasPassword ? 'Create reset link' : 'Create link'}
          </Button>
        )
      }
    />
  )
}

/** Shown while an absence is set. */
function UserAbsence({ user: { id, userName } }: { user: UserAccount }) {
  const { data } = useQuery(userAbsenceQuery(id))
  const ending = useAction(
    () => endUserAbsence(id),
    () => announce(`The absence of ${userName} has ended`),
  )
  if (!data?.until) return null
  return (
    <Section title="Absence">
      <p>
        <AbsenceInWords absence={data} whose={userName} />
      </p>
      <Refused failure={ending.error} />
      <div className="row">
        <Button className="button" onPress={() => ending.act()}>
          End absence
        </Button>
      </div>
    </Section>
  )
}

/** Shown while there are any: only their owner can add one. */
function UserPasskeys({ user: { id } }: { user: UserAccount }) {
  const found = useQuery(userPasskeysQuery(id))
  if (!found.data?.length) return null
  return <PasskeyList found={found} remove={(passkey) => removeUserPasskey(id, passkey)} />
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
