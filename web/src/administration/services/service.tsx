import { Button } from 'react-aria-components/Button'
import { useAction } from '../../auth/action.ts'
import { announce } from '../../ui/announce.ts'
import { formatInstant } from '../../ui/format.ts'
import { Access, AccountPage, Details } from '../page.tsx'
import {
  type ClientAccount,
  changeService,
  dropOldSecrets,
  ownerIdOf,
  rotateSecret,
  useServiceAccount,
} from '../queries.ts'
import { SecretShown } from './add.tsx'
import { endOfDay, lastDayBefore } from './end-date.ts'
import { serviceFields } from './fields.ts'

const services = { to: '/accounts/services', name: 'Services' } as const

/** One service client: its fields, roles, secrets and the switch. */
export function ServiceView() {
  return (
    <AccountPage
      useAccount={useServiceAccount}
      titleOf={(service) => service?.clientId ?? 'Service'}
      back={services}
    >
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

function ServiceDetails({ service, etag }: ServiceProps) {
  const { id, displayName, roles } = service
  const owner = service.owner ?? ''
  const lastDay = lastDayBefore(service.endsAtUtc)
  return (
    <Details
      title="Service"
      id={id}
      looks={changeable}
      loaded={{ texts: { displayName: displayName ?? '', owner, lastDay }, roles }}
      etag={etag}
      send={async ({ texts, roles: next }, tag) =>
        changeService(id, tag, {
          displayName: texts.displayName.trim() === '' ? null : texts.displayName,
          roles: next,
          ...(texts.owner !== owner && { ownerId: await ownerIdOf(texts.owner) }),
          ...(texts.lastDay !== lastDay && { endsAtUtc: endOfDay(texts.lastDay) }),
        })
      }
    />
  )
}

function ServiceAccess({ service, etag }: ServiceProps) {
  const { id, clientId, enabled, secrets, lastUsedAtUtc } = service
  const rotating = useAction(() => rotateSecret(id))
  const dropping = useAction(
    () => dropOldSecrets(id),
    () => announce('Only the newest secret is active'),
  )
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
            After you create a new secret, the old one keeps working until you end it, so the service can
            switch without interruption.
          </p>
          {rotating.isSuccess && <SecretShown key={rotating.data} secret={rotating.data} />}
        </>
      }
      buttons={
        <>
          <Button className="button" onPress={() => rotating.act()}>
            Create new secret
          </Button>
          {secrets > 1 && (
            <Button className="button" onPress={() => dropping.act()}>
              End old secret
            </Button>
          )}
        </>
      }
    />
  )
}
