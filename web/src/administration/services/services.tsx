import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { FailureNote } from '../../ui/failure.tsx'
import { formatInstant } from '../../ui/format.ts'
import { PlusIcon } from '../../ui/icons.tsx'
import { Name } from '../../ui/name.tsx'
import { Pager } from '../../ui/pager.tsx'
import { Frame } from '../frame.tsx'
import { AccountState } from '../pieces.tsx'
import { clientsQuery, pageSize } from '../queries.ts'

/** Every service client. */
export function ServicesView() {
  const add = (
    <Link to="/accounts/services/new" className="button button-primary">
      <PlusIcon /> Add a service
    </Link>
  )
  return (
    <Frame title="Services" lead="Programs that use the API with a secret of their own." action={add}>
      <ServiceTable />
    </Frame>
  )
}

function ServiceTable() {
  const [pageNumber, setPageNumber] = useState(1)
  const { data, failureReason, refetch } = useQuery(clientsQuery(pageNumber))
  const failure = failureReason && <FailureNote failure={failureReason} onRetry={() => void refetch()} />
  if (data === undefined) return failure
  if (data.totalCount === 0) return <p className="soft">There are no services yet.</p>
  return (
    <>
      {failure}
      <div className="card table admin-table admin-list">
        <table>
          <caption className="visually-hidden">Services</caption>
          <thead>
            <tr>
              <th scope="col">Client ID</th>
              <th scope="col">Roles</th>
              <th scope="col">Last used</th>
              <th scope="col">Ends</th>
              <th scope="col">State</th>
            </tr>
          </thead>
          <tbody>
            {data.items.map(({ id, clientId, name, roles, lastUsedAtUtc, endsAtUtc, enabled }) => (
              <tr key={id}>
                <th scope="row">
                  <Link to="/accounts/services/$id" params={{ id: String(id) }}>
                    <Name of={clientId} />
                  </Link>
                  {name && <div className="soft small">{name}</div>}
                </th>
                <td data-label="Roles">{roles.join(', ') || 'None'}</td>
                <td data-label="Last used">{lastUsedAtUtc ? formatInstant(lastUsedAtUtc) : 'Never'}</td>
                <td data-label="Ends">{endsAtUtc ? formatInstant(endsAtUtc) : 'Never'}</td>
                <td data-label="State">
                  <AccountState enabled={enabled} />
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
