import { Link } from '@tanstack/react-router'
import { formatInstant } from '../../ui/format.ts'
import { Name } from '../../ui/name.tsx'
import { Frame } from '../frame.tsx'
import { AccountList } from '../list.tsx'
import { AccountState } from '../pieces.tsx'
import { isInvited, type UserAccount, useUsers } from '../queries.ts'

/** Everyone who has an account. */
export function UsersView() {
  return (
    <Frame
      title="Users"
      lead="People who sign in, and the roles that set their permissions."
      add={{ to: '/accounts/users/new', name: 'Invite user' }}
    >
      <AccountList
        caption="Users"
        usePage={useUsers}
        columns={columns}
        empty="There are no users yet."
        searched="Start of a name or email"
      />
    </Frame>
  )
}

const columns = {
  Name: ({ id, userName }: UserAccount) => (
    <Link to="/accounts/users/$id" params={{ id: String(id) }}>
      <Name of={userName} />
    </Link>
  ),
  Email: ({ email }: UserAccount) => email,
  Roles: ({ roles }: UserAccount) => roles.join(', ') || 'None',
  'Last sign-in': ({ lastSignInAtUtc }: UserAccount) =>
    lastSignInAtUtc ? formatInstant(lastSignInAtUtc) : 'None recorded',
  State: (user: UserAccount) => <AccountState enabled={user.enabled} isInvited={isInvited(user)} />,
}
