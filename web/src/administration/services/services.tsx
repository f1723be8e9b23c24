import { Link } from '@tanstack/react-router'
import { formatInstant } from '../../ui/format.ts'
import { Name } from '../../ui/name.tsx'
import { Frame } from '../frame.tsx'
import { AccountList } from '../list.tsx'
import { AccountState } from '../pieces.tsx'
import { type ClientAccount, useServices } from '../queries.ts'

/** Every service client. */
export function ServicesView() {
  return (
    <Frame
      title="Services"
      lead="Programs that use the API, each with its own secret."
      add={{ to: '/accounts/services/new', name: 'Add service' }}
    >
      <AccountList
        caption="Services"
        usePage={useServices}
        columns={columns}
        empty="There are no services yet."
        searched="Start of a client ID or name"
      />
    </Frame>
  )
}

const columns = {
  'Client ID': ({ id, clientId, displayName }: ClientAccount) => (
    <>
      <Link to="/accounts/services/$id" params={{ id: String(id) }}>
        <Name of={clientId} />
      </Link>
      {displayName && <div className="soft small">{displayName}</div>}
    </>
  ),
  Roles: ({ roles }: ClientAccount) => roles.join(', ') || 'None',
  Owner: ({ owner }: ClientAccount) => (owner === null ? 'None' : <Name of={owner} />),
  'Last used': ({ lastUsedAtUtc }: ClientAccount) => (lastUsedAtUtc ? formatInstant(lastUsedAtUtc) : 'Never'),
  Expires: ({ endsAtUtc }: ClientAccount) => (endsAtUtc ? formatInstant(endsAtUtc) : 'Never'),
  State: (service: ClientAccount) => <AccountState enabled={service.enabled} />,
}
