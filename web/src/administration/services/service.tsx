import { useMutation, useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useId } from 'react'
import { Button } from 'react-aria-components/Button'
import { announce } from '../../ui/announce.ts'
import { FailureNote } from '../../ui/failure.tsx'
import { formatInstant } from '../../ui/format.ts'
import { DraftForm } from '../form.tsx'
import { Frame } from '../frame.tsx'
import { AccountState, Refused, RoleChecks, TextField } from '../pieces.tsx'
import { type ClientAccount, changeService, clientQuery, dropOldSecrets, rotateSecret } from '../queries.ts'
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
          <Details key={data.service.id} service={data.service} etag={data.etag} />
          <Secrets service={data.service} etag={data.etag} />
        </>
      )}
    </Frame>
  )
}

const fieldsOf = ({ name, endsAtUtc, roles }: ClientAccount) => ({
  name: name ?? '',
  lastDay: lastDayBefore(endsAtUtc),
  roles,
})

function Details({ service, etag }: { service: ClientAccount; etag: string }) {
  const send = (values: ReturnType<typeof fieldsOf>, tag: string) =>
    changeService(service.id, tag, {
      name: values.name.trim() === '' ? null : values.name,
      roles: values.roles,
      ...(values.lastDay !== lastDayBefore(service.endsAtUtc) && { endsAtUtc: endOfDay(values.lastDay) }),
    })
  return (
    <DraftForm title="Service" loaded={fieldsOf(service)} etag={etag} send={send}>
      {({ name, lastDay, roles }, change) => (
        <>
          <TextField
            label="Name"
            value={name}
            hint="What people call it."
            onChange={(text) => change({ name: text })}
          />
          <TextField
            label="Last day"
            type="date"
            value={lastDay}
            hint="After this day the service gets no token. Leave it empty if there is no last day."
            onChange={(text) => change({ lastDay: text })}
          />
          <RoleChecks held={roles} onChange={(next) => change({ roles: next })} />
        </>
      )}
    </DraftForm>
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
    mutationFn: (next: boolean) => changeService(id, etag, { enabled: next }),
    onSuccess: (_, isEnabled) => announce(`${clientId} is ${isEnabled ? 'enabled' : 'disabled'}`),
  })
  return (
    <section className="card card-stack" aria-labelledby={title}>
      <div className="row row-between">
        <h2 id={title}>Access</h2>
        <AccountState enabled={enabled} />
      </div>
      <p>
        {secrets === 1 ? 'One active secret.' : `${secrets} active secrets.`}{' '}
        {lastUsedAtUtc ? `Last used ${formatInstant(lastUsedAtUtc)}.` : 'Never used.'}
      </p>
      <p className="soft">
        A new secret works beside the old one until you end the old one, so the service can switch without a
        break.
      </p>
      {rotating.isSuccess && <SecretShown key={rotating.data} secret={rotating.data} />}
      <Refused failure={rotating.error ?? dropping.error ?? switching.error} />
      <div className="row">
        <Button className="button" onPress={() => rotating.isPending || rotating.mutate()}>
          Make a new secret
        </Button>
        {secrets > 1 && (
          <Button className="button" onPress={() => dropping.isPending || dropping.mutate()}>
            End the old secret
          </Button>
        )}
        <Button className="button" onPress={() => switching.isPending || switching.mutate(!enabled)}>
          {enabled ? 'Disable' : 'Enable'}
        </Button>
      </div>
    </section>
  )
}
