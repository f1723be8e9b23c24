import { useMutation } from '@tanstack/react-query'
import { Button } from 'react-aria-components/Button'
import { announce } from '../../ui/announce.ts'
import { formatInstant } from '../../ui/format.ts'
import { Access, AccountPage, Details } from '../page.tsx'
import {
  type ClientAccount,
  changeService,
  dropOldSecrets,
  rotateSecret,
  useServiceAccount,
} from '../queries.ts'
import { SecretShown } from './add.tsx'
import { endOfDay, lastDayBefore } from './end-date.ts'
import { serviceFields } from './fields.ts'

/** One service client: its fields, roles, secrets and the switch. */
export function ServiceView() {
  return (
    <AccountPage useAccount={useServiceAccount} titleOf={(service) => service?.clientId ?? 'Service'}>
      {(service, etag) => (
        <>
          <ServiceDetails key={service.id} service={service} etag={etag} />
          <ServiceAccess service={service} etag={etag} />
        </>
      )}
    </AccountPage>
  )
}

interface ServiceProps {
  service: ClientAccount
  etag: string
}

const { clientId: _, ...changeable } = serviceFields

function ServiceDetails({ service: { id, name, endsAtUtc, roles }, etag }: ServiceProps) {
  const known = lastDayBefore(endsAtUtc)
  return (
    <Details
      title="Service"
      id={id}
      looks={changeable}
      loaded={{ texts: { name: name ?? '', lastDay: known }, roles }}
      etag={etag}
      send={({ texts, roles: next }, tag) =>
        changeService(id, tag, {
          name: texts.name.trim() === '' ? null : texts.name,
          roles: next,
          ...(texts.lastDay !== known && { endsAtUtc: endOfDay(texts.lastDay) }),
        })
      }
    />
  )
}

function ServiceAccess({ service, etag }: ServiceProps) {
  const { id, clientId, enabled, secrets, lastUsedAtUtc } = service
  const rotating = useMutation({ mutationFn: () => rotateSecret(id) })
  const dropping = useMutation({
    mutationFn: () => dropOldSecrets(id),
    onSuccess: () => announce('Only the newest secret is active'),
  })
  return (
    <Access
      name={clientId}
      enabled={enabled}
      onSwitch={(next) => changeService(id, etag, { enabled: next })}
      failure={rotating.error ?? dropping.error}
      words={
        <>
          <p>
            {secrets === 1 ? 'One active secret.' : `${secrets} active secrets.`}{' '}
            {lastUsedAtUtc ? `Last used ${formatInstant(lastUsedAtUtc)}.` : 'Never used.'}
          </p>
          <p className="soft">
            A new secret works alongside the old one until you end the old one, so the service can switch
            without a break.
          </p>
          {rotating.isSuccess && <SecretShown key={rotating.data} secret={rotating.data} />}
        </>
      }
      buttons={
        <>
          <Button className="button" onPress={() => rotating.isPending || rotating.mutate()}>
            Create new secret
          </Button>
          {secrets > 1 && (
            <Button className="button" onPress={() => dropping.isPending || dropping.mutate()}>
              End old secret
            </Button>
          )}
        </>
      }
    />
  )
}
