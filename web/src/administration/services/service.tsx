import { useMutation, useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { type FormEvent, useId, useState } from 'react'
import { Button } from 'react-aria-components/Button'
import { announce } from '../../ui/announce.ts'
import { FailureNote } from '../../ui/failure.tsx'
import { formatInstant } from '../../ui/format.ts'
import { Frame } from '../frame.tsx'
import { AccountState, Refused, RoleChecks, TextField } from '../pieces.tsx'
import {
  type ClientAccount,
  type ClientChanges,
  changeService,
  clientQuery,
  dropOldSecrets,
  rotateSecret,
} from '../queries.ts'
import { SecretShown } from './add.tsx'
import { endOfDay, lastDayBefore } from './end-date.ts'

/** One service client: what it may, when it ends, and its secrets. */
export function ServiceView() {
  const { id } = useParams({ strict: false })
  const { data, failureReason, refetch } = useQuery(clientQuery(Number(id)))
  return (
    <Frame title={data?.service.clientId ?? 'Service'}>
      {data === undefined && failureReason !== null && (
        <FailureNote failure={failureReason} onRetry={() => void refetch()} />
      )}
      {data && (
        <>
          <Details key={data.etag} service={data.service} etag={data.etag} />
          <Secrets service={data.service} etag={data.etag} />
        </>
      )}
    </Frame>
  )
}

function Details({ service, etag }: { service: ClientAccount; etag: string }) {
  const title = useId()
  const [name, setName] = useState(service.name ?? '')
  const [lastDay, setLastDay] = useState(lastDayBefore(service.endsAtUtc))
  const [roles, setRoles] = useState<string[]>(service.roles)
  const saving = useMutation({
    mutationFn: (changes: ClientChanges) => changeService(service.id, etag, changes),
    onSuccess: () => announce('Changes saved'),
  })
  const isSameDay = lastDay === lastDayBefore(service.endsAtUtc)
  const isSame =
    name === (service.name ?? '') && isSameDay && [...roles].sort().join() === service.roles.join()

  function submit(event: FormEvent) {
    event.preventDefault()
    if (saving.isPending || isSame) return
    const end = isSameDay ? {} : { endsAtUtc: endOfDay(lastDay) }
    saving.mutate({ name: name.trim() === '' ? null : name, roles, ...end })
  }
  return (
    <form className="card admin-card" aria-labelledby={title} onSubmit={submit}>
      <h2 id={title}>Service</h2>
      <TextField label="Name" value={name} hint="What people call it." onChange={setName} />
      <TextField
        label="Last day"
        type="date"
        value={lastDay}
        hint="The service gets no token after it. Leave it empty for no end."
        onChange={setLastDay}
      />
      <RoleChecks held={roles} onChange={setRoles} />
      <Refused failure={saving.error} />
      <div className="row">
        <button type="submit" className="button button-primary" aria-disabled={saving.isPending || isSame}>
          {saving.isPending ? 'Saving …' : 'Save'}
        </button>
      </div>
    </form>
  )
}

function Secrets({ service, etag }: { service: ClientAccount; etag: string }) {
  const title = useId()
  const { id, clientId, enabled, secrets, lastUsedAtUtc } = service
  const rotating = useMutation({ mutationFn: () => rotateSecret(id) })
  const dropping = useMutation({
    mutationFn: () => dropOldSecrets(id),
    onSuccess: () => announce('Only the newest secret is active'),
  })
  const switching = useMutation({
    mutationFn: () => changeService(id, etag, { enabled: !enabled }),
    onSuccess: () => announce(`${clientId} is ${enabled ? 'disabled' : 'enabled'}`),
  })
  return (
    <section className="card admin-card" aria-labelledby={title}>
      <div className="row row-between">
        <h2 id={title}>Access</h2>
        <AccountState enabled={enabled} />
      </div>
      <p>
        {secrets === 1 ? 'One active secret.' : `${secrets} active secrets.`}{' '}
        {lastUsedAtUtc ? `Last used ${formatInstant(lastUsedAtUtc)}.` : 'Never used.'}
      </p>
      <p className="soft">
        A new secret works beside the old one until you end the old one: the service changes over without a
        pause.
      </p>
      {rotating.isSuccess && <SecretShown key={rotating.data} secret={rotating.data} />}
      <Refused failure={rotating.error ?? dropping.error ?? switching.error} />
      <div className="row">
        <Button className="button" onPress={() => rotating.isPending || rotating.mutate()}>
          Make another secret
        </Button>
        {secrets > 1 && (
          <Button className="button" onPress={() => dropping.isPending || dropping.mutate()}>
            End the old secret
          </Button>
        )}
        <Button className="button" onPress={() => switching.isPending || switching.mutate()}>
          {enabled ? 'Disable' : 'Enable'}
        </Button>
      </div>
    </section>
  )
}
