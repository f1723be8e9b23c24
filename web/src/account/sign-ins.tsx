import { useMutation, useQuery } from '@tanstack/react-query'
import { useId, useRef } from 'react'
import { Button } from 'react-aria-components/Button'
import { problemOf } from '../api/problem.ts'
import { Moment } from '../orders/moment.tsx'
import { announce } from '../ui/announce.ts'
import { FailureNote } from '../ui/failure.tsx'
import { endOtherSignIns, endSignIn, type SignIn, signInsQuery } from './queries.ts'

/** Where the person is signed in: each place as its software names itself, to be ended one by one or all but this one. */
export function SignIns() {
  const title = useId()
  const heading = useRef<HTMLHeadingElement>(null)
  const { data, failureReason, refetch } = useQuery(signInsQuery)
  const ended = (words: string) => {
    announce(words)
    // The button is gone.
    heading.current?.focus()
  }
  const ending = useMutation({ mutationFn: endSignIn, onSuccess: () => ended('It has been signed out.') })
  const endingOthers = useMutation({
    mutationFn: endOtherSignIns,
    onSuccess: () => ended('You are signed out everywhere else.'),
  })
  const failure = ending.error ?? endingOthers.error
  const isBusy = ending.isPending || endingOthers.isPending
  return (
    <section className="card account-card account-wide" aria-labelledby={title}>
      <div className="row row-between">
        <h2 ref={heading} id={title} tabIndex={-1}>
          Where you are signed in
        </h2>
        {data && data.length > 1 && (
          <Button className="button" onPress={() => isBusy || endingOthers.mutate()}>
            Sign out everywhere else
          </Button>
        )}
      </div>
      <div role="status">
        {failure && !problemOf(failure, 'sign-in-not-found') && <FailureNote failure={failure} />}
      </div>
      {data === undefined && failureReason !== null && (
        <FailureNote failure={failureReason} onRetry={() => void refetch()} />
      )}
      <ul className="sign-ins">
        {data?.toSorted(currentFirst).map((signIn) => (
          <Place key={signIn.id} signIn={signIn} onEnd={() => isBusy || ending.mutate(signIn.id)} />
        ))}
      </ul>
    </section>
  )
}

const currentFirst = (a: SignIn, b: SignIn) => Number(b.current) - Number(a.current)
const kinds = { session: 'Browser', tokens: 'Another app' }

function Place({ signIn, onEnd }: { signIn: SignIn; onEnd(): void }) {
  const { kind, userAgent, createdAtUtc, lastUsedAtUtc, current } = signIn
  const title = useId()
  return (
    <li className="sign-in-place">
      <div>
        <div className="row">
          <strong>{kinds[kind]}</strong>
          {current && <span className="status tone-good sign is-full">This one</span>}
        </div>
        <p id={title} className="sign-in-agent">
          {userAgent ?? 'It did not say what it is.'}
        </p>
        <p className="soft small">
          Last used <Moment instant={lastUsedAtUtc} timeZone={null} />
        </p>
        <p className="soft small">
          Since <Moment instant={createdAtUtc} timeZone={null} />
        </p>
      </div>
      {!current && (
        <Button className="button button-small" aria-describedby={title} onPress={onEnd}>
          Sign out
        </Button>
      )}
    </li>
  )
}
