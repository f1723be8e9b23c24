import type { UseQueryResult } from '@tanstack/react-query'
import { type ReactNode, useId, useRef } from 'react'
import { Button } from 'react-aria-components/Button'
import type { components } from '../../../client/src/schema.ts'
import { problemOf } from '../api/problem.ts'
import { announce } from '../ui/announce.ts'
import { EndNote, Unread } from '../ui/failure.tsx'
import { Moment } from '../ui/moment.tsx'
import { Section } from '../ui/section.tsx'
import { useAction } from './action.ts'

export type Passkey = components['schemas']['Passkey']

interface PasskeyListProps {
  found: UseQueryResult<readonly Passkey[]>
  remove(id: string): Promise<unknown>
  /** For a passkey of one's own. */
  onRename?(passkey: Passkey): void
  children?: ReactNode
}

/** The passkeys of an account, each of which can be removed. */
export function PasskeyList({ found, remove, onRename, children }: PasskeyListProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  const removing = useAction(remove, () => {
    announce('Passkey removed. You can no longer sign in with it.')
    // The button is gone.
    heading.current?.focus()
  })
  return (
    <Section title="Passkeys" headingRef={heading} className="sign-ins">
      <div role="status">
        {removing.error && !problemOf(removing.error, 'passkey-not-found') && (
          <EndNote failure={removing.error} />
        )}
      </div>
      <Unread query={found} />
      {found.data?.length === 0 ? (
        <p className="soft">No passkeys yet.</p>
      ) : (
        <ul className="entries">
          {found.data?.map((passkey) => (
            <Item
              key={passkey.id}
              passkey={passkey}
              onRemove={() => removing.act(passkey.id)}
              {...(onRename && { onRename: () => onRename(passkey) })}
            />
          ))}
        </ul>
      )}
      {children}
    </Section>
  )
}

interface ItemProps {
  passkey: Passkey
  onRename?(): void
  onRemove(): void
}

function Item({ passkey, onRename, onRemove }: ItemProps) {
  const { name, synced, createdAtUtc, lastUsedAtUtc } = passkey
  const title = useId()
  return (
    <li>
      <div>
        <strong id={title} className="wrap">
          {name}
        </strong>
        <p className="soft small">{synced ? 'Synced between devices' : 'On one device only'}</p>
        <p className="soft small">
          Added <Moment instant={createdAtUtc} timeZone={null} />
        </p>
        <p className="soft small">
          {lastUsedAtUtc ? (
            <>
              Last used <Moment instant={lastUsedAtUtc} timeZone={null} />
            </>
          ) : (
            'Not used yet'
          )}
        </p>
      </div>
      <div className="row">
        {onRename && (
          <Button className="button button-small" aria-describedby={title} onPress={onRename}>
            Rename
          </Button>
        )}
        <Button className="button button-small" aria-describedby={title} onPress={onRemove}>
          Remove
        </Button>
      </div>
    </li>
  )
}
