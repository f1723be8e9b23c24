import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { FailureNote } from '../../ui/failure.tsx'
import { PlusIcon } from '../../ui/icons.tsx'
import { Name } from '../../ui/name.tsx'
import { Pager } from '../../ui/pager.tsx'
import { Frame } from '../frame.tsx'
import { AccountState } from '../pieces.tsx'
import { pageSize, usersQuery } from '../queries.ts'

/** Everybody who has an account. */
export function UsersView() {
  const invite = (
    <Link to="/accounts/users/new" className="button button-primary">
      <PlusIcon /> Invite somebody
    </Link>
  )
  return (
    <Frame title="Users" lead="People who sign in, and the roles that say what they may do." action={invite}>
      <UserTable />
    </Frame>
  )
}

function UserTable() {
  const [pageNumber, setPageNumber] = useState(1)
  const { data, failureReason, refetch } = useQuery(usersQuery(pageNumber))
  const failure = failureReason && <FailureNote failure={failureReason} onRetry={() => void refetch()} />
  if (data === undefined) return failure
  return (
    <>
      {failure}
      <div className="card table admin-table admin-list">
        <table>
          <caption className="visually-hidden">Users</caption>
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">Email</th>
              <th scope="col">Roles</th>
              <th scope="col">State</th>
            </tr>
          </thead>
          <tbody>
            {data.items.map(({ id, userName, email, roles, enabled, hasPassword }) => (
              <tr key={id}>
                <th scope="row">
                  <Link to="/accounts/users/$id" params={{ id: String(id) }}>
                    <Name of={userName} />
                  </Link>
                </th>
                <td data-label="Email">{email}</td>
                <td data-label="Roles">{roles.join(', ') || 'None'}</td>
                <td data-label="State">
                  <AccountState enabled={enabled} hasPassword={hasPassword} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
        {data.totalPages > 1 && (
          <Pager page={data} pageSize={pageSize} wantedPage={pageNumber} onPage={setPageNumber} />
        )}
      </div>
    </>
  )
}
