import { Link } from '@tanstack/react-router'
import { AddAccount } from '../add.tsx'
import { ShownOnce } from '../pieces.tsx'
import { addService, ownerIdOf } from '../queries.ts'
import { endOfDay } from './end-date.ts'
import { serviceFields } from './fields.ts'

/** A new service client, whose secret is shown once. */
export function AddServiceView() {
  return (
    <AddAccount
      title="Add service"
      lead="It gets a secret, which is shown only once."
      looks={serviceFields}
      action={['Add', 'Adding …']}
      cancelTo="/accounts/services"
      send={async ({ texts: { clientId, displayName, owner, lastDay }, roles }) => {
        const endsAtUtc = endOfDay(lastDay)
        return addService({
          clientId,
          roles,
          ownerId: await ownerIdOf(owner),
          ...(displayName.trim() !== '' && { displayName }),
          ...(endsAtUtc && { endsAtUtc }),
        })
      }}
    >
      {({ id, clientSecret }, { clientId }) => (
        <>
          <p>The service {clientId} has been added.</p>
          <SecretShown secret={clientSecret} />
          <div className="row">
            <Link className="button" to="/accounts/services/$id" params={{ id: String(id) }}>
              Open the service
            </Link>
          </div>
        </>
      )}
    </AddAccount>
  )
}

export function SecretShown({ secret }: { secret: string }) {
  return (
    <ShownOnce label="Secret" text={secret}>
      <p>
        Put it where the service keeps its secrets. Only a hash of it is stored here, so it cannot be shown
        again.
      </p>
    </ShownOnce>
  )
}
