import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { Frame } from '../frame.tsx'
import { Refused, RoleChecks, ShownOnce, TextField } from '../pieces.tsx'
import { addService } from '../queries.ts'
import { endOfDay } from './end-date.ts'

/** A new service client, whose secret is shown once. */
export function AddServiceView() {
  const [clientId, setClientId] = useState('')
  const [name, setName] = useState('')
  const [lastDay, setLastDay] = useState('')
  const [roles, setRoles] = useState<string[]>([])
  const adding = useMutation({
    mutationFn: () => {
      const endsAtUtc = endOfDay(lastDay)
      const given = { ...(name.trim() === '' ? {} : { name }), ...(endsAtUtc === null ? {} : { endsAtUtc }) }
      return addService({ clientId, roles, ...given })
    },
  })

  function submit(event: FormEvent) {
    event.preventDefault()
    if (!adding.isPending) adding.mutate()
  }
  if (adding.isSuccess) {
    return (
      <Frame title="Add a service">
        <div className="card card-stack">
          <p>The service {clientId} has been added.</p>
          <SecretShown secret={adding.data.clientSecret} />
          <div className="row">
            <Link className="button" to="/accounts/services/$id" params={{ id: String(adding.data.id) }}>
              Open the service
            </Link>
          </div>
        </div>
      </Frame>
    )
  }
  return (
    <Frame title="Add a service" lead="It gets a secret, which is shown only once.">
      <form className="card card-stack" onSubmit={submit}>
        <TextField
          label="Client ID"
          value={clientId}
          isRequired
          hint="Starts with a letter; then letters, digits and . _ - may follow. It cannot be changed later."
          onChange={setClientId}
        />
        <TextField label="Name" value={name} hint="What people call it." onChange={setName} />
        <TextField
          label="Last day"
          type="date"
          value={lastDay}
          hint="After this day the service gets no token. Leave it empty if there is no last day."
          onChange={setLastDay}
        />
        <RoleChecks held={roles} onChange={setRoles} />
        <Refused failure={adding.error} />
        <div className="row">
          <button type="submit" className="button button-primary" aria-disabled={adding.isPending}>
            {adding.isPending ? 'Adding …' : 'Add'}
          </button>
          <Link className="button button-quiet" to="/accounts/services">
            Cancel
          </Link>
        </div>
      </form>
    </Frame>
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
