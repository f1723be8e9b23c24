import { Link } from '@tanstack/react-router'
import { formatInstant } from '../../ui/format.ts'
import { PlusIcon } from '../../ui/icons.tsx'
import { Name } from '../../ui/name.tsx'
import { Frame } from '../frame.tsx'
import { AccountList } from '../list.tsx'
import { AccountState } from '../pieces.tsx'
import { type ClientAccount, useServices } from '../queries.ts'

/** Every service client. */
export function ServicesView() {
  const add = (
    <Link to="/accounts/services/new" className="button button-primary">
      <PlusIcon /> Add service
    </Link>
  )
  return (
    <Frame title="Services" lead="Programs that use the API, each with its own secret." action={add}>
      <AccountList
        caption="Services"
        usePage={useServices}
        columns={columns}
        empty="There are no services yet."
      />
    </Frame>
  )
}

const columns = {
  'Client ID': ({ id, clientId, name }: ClientAccount) => (
    <>
      <Link to="/accounts/services/$id" params={{ id: String(id) }}>
        <Name of={clientId} />
      </Link>
      {name && <div className="soft small">{name}</div>}
    </>
  ),
  Roles: ({ roles }: ClientAccount) => roles.join(', ') || 'None',
  'Last used': ({ lastUsedAtUtc }: ClientAccount) => (lastUsedAtUtc ? formatInstant(lastUsedAtUtc) : 'Never'),
  Expires: ({ endsAtUtc }: ClientAccount) => (endsAtUtc ? formatInstant(endsAtUtc) : 'Never'),
  State: (service: ClientAccount) => <AccountState enabled={service.enabled} />,
}
