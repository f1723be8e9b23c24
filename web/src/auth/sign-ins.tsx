import type { UseQueryResult } from '@tanstack/react-query'
import { useId, useRef } from 'react'
import { Button } from 'react-aria-components/Button'
import type { components } from '../../../client/src/schema.ts'
import { problemOf } from '../api/problem.ts'
import { announce } from '../ui/announce.ts'
import { EndNote, Unread } from '../ui/failure.tsx'
import { formatAgo, formatExactInstant } from '../ui/format.ts'
import { useNow } from '../ui/moment.tsx'
import { Section } from '../ui/section.tsx'
import { useAction } from './action.ts'
import { browserOf } from './user-agent.ts'

type SignIn = components['schemas']['SignIn']

interface SignInsProps {
  title: string
  found: UseQueryResult<readonly SignIn[]>
  endOne(id: string): Promise<unknown>
  endMany(): Promise<unknown>
  /** The action that ends several at once: the label of its button, and the message afterwards. */
  many: { label: string; done: string }
}

/** Where an account is signed in. Sign-ins can be ended one by one, or many at once. */
export function SignIns({ title, found, many, ...ends }: SignInsProps) {
  const { data } = found
  const heading = useRef<HTMLHeadingElement>(null)
  const ended = (words: string) => {
    announce(words)
    // The button is gone.
    heading.current?.focus()
  }
  const endingOne = useAction(ends.endOne, () => ended('Signed out.'))
  const endingMany = useAction(ends.endMany, () => ended(many.done))
  const failure = endingOne.error ?? endingMany.error
  const isBusy = endingOne.isPending || endingMany.isPending
  return (
    <Section
      title={title}
      headingRef={heading}
      className="sign-ins"
      aside={
        // Also with one or none: it stops what was asked for in sign-ins that are over.
        data && (
          <Button className="button" onPress={() => isBusy || endingMany.act()}>
            {many.label}
          </Button>
        )
      }
    >
      <div role="status">
        {failure && !problemOf(failure, 'sign-in-not-found') && <EndNote failure={failure} />}
      </div>
      <Unread query={found} />
      {data?.length === 0 ? (
        <p className="soft">Not signed in anywhere.</p>
      ) : (
        <ul className="entries">
          {data?.toSorted(currentFirst).map((signIn) => (
            <Place key={signIn.id} signIn={signIn} onEnd={() => isBusy || endingOne.act(signIn.id)} />
          ))}
        </ul>
      )}
    </Section>
  )
}

const currentFirst = (a: SignIn, b: SignIn) => Number(b.current) - Number(a.current)
const kinds = { session: 'Browser', tokens: 'Another app' }

function Place({ signIn, onEnd }: { signIn: SignIn; onEnd(): void }) {
  const { kind, userAgent, lastUsedAtUtc, current } = signIn
  const title = useId()
  const now = useNow()
  return (
    <li>
      <div className="row">
        <span id={title}>
          <strong>{browserOf(userAgent ?? '') ?? kinds[kind]}</strong>
          <span className="soft">
            {' · active '}
            <time dateTime={lastUsedAtUtc} title={formatExactInstant(lastUsedAtUtc)}>
              {formatAgo(lastUsedAtUtc, now)}
            </time>
          </span>
        </span>
        {current && <span className="status tone-good sign is-full">This browser</span>}
      </div>
      {!current && (
        <Button className="button button-small" aria-describedby={title} onPress={onEnd}>
          Sign out
        </Button>
      )}
    </li>
  )
}
