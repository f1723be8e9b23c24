import { Link } from '@tanstack/react-router'
import { PlusIcon } from '../../ui/icons.tsx'
import { Name } from '../../ui/name.tsx'
import { Frame } from '../frame.tsx'
import { AccountList } from '../list.tsx'
import { AccountState } from '../pieces.tsx'
import { type UserAccount, useUsers } from '../queries.ts'

/** Everyone who has an account. */
export function UsersView() {
  const invite = (
    <Link to="/accounts/users/new" className="button button-primary">
      <PlusIcon /> Invite user
    </Link>
  )
  return (
    <Frame title="Users" lead="People who sign in, and the roles that set their permissions." action={invite}>
      <AccountList caption="Users" usePage={useUsers} columns={columns} empty="There are no users yet." />
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
  State: (user: UserAccount) => <AccountState {...user} />,
}
