import { useMutation, useQuery } from '@tanstack/react-query'
import { useId, useRef } from 'react'
import { Button } from 'react-aria-components/Button'
import { problemOf } from '../../api/problem.ts'
import { Moment } from '../../orders/moment.tsx'
import { announce } from '../../ui/announce.ts'
import { FailureNote } from '../../ui/failure.tsx'
import { Refused } from '../pieces.tsx'
import { endUserSignIn, type SignIn, signOutUser, userSignInsQuery } from '../queries.ts'

/** Where a user is signed in, to be ended one by one or all. */
export function UserSignIns({ id }: { id: number }) {
  const title = useId()
  const heading = useRef<HTMLHeadingElement>(null)
  const { data, failureReason, refetch } = useQuery(userSignInsQuery(id))
  const ended = (words: string) => {
    announce(words)
    // The button is gone.
    heading.current?.focus()
  }
  const ending = useMutation({
    mutationFn: (session: string) => endUserSignIn(id, session),
    onSuccess: () => ended('The session has ended'),
  })
  const endingAll = useMutation({
    mutationFn: () => signOutUser(id),
    onSuccess: () => ended('All sessions have ended'),
  })
  const failure = ending.error ?? endingAll.error
  const isBusy = ending.isPending || endingAll.isPending
  return (
    <section className="card admin-card" aria-labelledby={title}>
      <div className="row row-between">
        <h2 ref={heading} id={title} tabIndex={-1}>
          Sessions
        </h2>
        {data && data.length > 1 && (
          <Button className="button button-small" onPress={() => isBusy || endingAll.mutate()}>
            End all
          </Button>
        )}
      </div>
      <Refused failure={problemOf(failure, 'sign-in-not-found') ? undefined : failure} />
      {data === undefined && failureReason !== null && (
        <FailureNote failure={failureReason} onRetry={() => void refetch()} />
      )}
      {data?.length === 0 && <p className="soft">Not signed in anywhere.</p>}
      <ul>
        {data?.map((signIn) => (
          <Place key={signIn.id} signIn={signIn} onEnd={() => isBusy || ending.mutate(signIn.id)} />
        ))}
      </ul>
    </section>
  )
}

const kinds = { session: 'Browser', tokens: 'Another app' }

function Place({ signIn, onEnd }: { signIn: SignIn; onEnd(): void }) {
  const { kind, userAgent, createdAtUtc, lastUsedAtUtc, current } = signIn
  const title = useId()
  return (
    <li className="admin-place">
      <div>
        <strong>{kinds[kind]}</strong>
        {current && ' (this one, yours)'}
        <p id={title} className="admin-agent">
          {userAgent ?? 'It did not say what it is.'}
        </p>
        <p className="soft small">
          Last used <Moment instant={lastUsedAtUtc} timeZone={null} />
        </p>
        <p className="soft small">
          Since <Moment instant={createdAtUtc} timeZone={null} />
        </p>
      </div>
      <Button className="button button-small" aria-describedby={title} onPress={onEnd}>
        End
      </Button>
    </li>
  )
}
