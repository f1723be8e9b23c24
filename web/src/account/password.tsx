import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useId, useRef, useState } from 'react'
import { ProblemError, problemOf } from '../api/problem.ts'
import { passwordFailure } from '../auth/confirm-dialog.tsx'
import { useWait, waitingWords } from '../auth/wait.ts'
import { announce } from '../ui/announce.ts'
import { Note } from '../ui/note.tsx'
import { NewPassword } from './new-password.tsx'
import { changePassword } from './queries.ts'

/** The change of one's own password. */
export function PasswordForm({ names }: { names: readonly string[] }) {
  const title = useId()
  const current = useRef<HTMLInputElement>(null)
  const wait = useWait()
  const [currentPassword, setCurrent] = useState('')
  const [newPassword, setNew] = useState('')
  const changing = useMutation({
    mutationFn: changePassword,
    onSuccess() {
      setCurrent('')
      setNew('')
      announce('Your password has been changed. You are signed out everywhere else.')
    },
    onError(failure) {
      if (failure instanceof ProblemError) wait.start(failure.retryAfterMilliseconds ?? 0)
      if (problemOf(failure, 'validation-failed')) document.getElementById('new-password')?.focus()
      else current.current?.focus()
    },
    // Nothing keeps a password once the answer is there.
    gcTime: 0,
  })
  const refusal = refusalOf(changing.error)
  const isClosed = changing.isPending || wait.seconds > 0

  function submit(event: FormEvent) {
    event.preventDefault()
    if (!isClosed) changing.mutate({ currentPassword, newPassword })
  }

  return (
    <section className="card card-stack" aria-labelledby={title}>
      <h2 id={title}>Password</h2>
      <form className="stack account-form" onSubmit={submit}>
        {/* For password managers. */}
        <input
          className="visually-hidden"
          type="text"
          autoComplete="username"
          value={names.at(-1) ?? ''}
          readOnly
          tabIndex={-1}
          aria-hidden="true"
        />
        <div className="field">
          <label htmlFor="current-password">Current password</label>
          <input
            ref={current}
            id="current-password"
            type="password"
            autoComplete="current-password"
            maxLength={512}
            required
            value={currentPassword}
            aria-describedby="password-failure"
            onChange={({ target }) => setCurrent(target.value)}
          />
        </div>
        <NewPassword
          value={newPassword}
          names={names}
          refusal={refusal}
          onChange={(value) => {
            setNew(value)
            if (!changing.isPending) changing.reset()
          }}
        />
        <div id="password-failure" role="alert">
          {changing.isError && refusal === undefined && (
            <Note kind="bad">{passwordFailure(changing.error)}</Note>
          )}
        </div>
        <p className="soft">You stay signed in here. Everywhere else you are signed out.</p>
        {/* Not disabled, so that it keeps the focus; `submit` lets nothing through meanwhile. */}
        <button type="submit" className="button button-primary" aria-disabled={isClosed}>
          {changing.isPending ? 'Changing …' : waitingWords('Change the password', wait.seconds)}
        </button>
      </form>
    </section>
  )
}

/** What the service says of the new password. */
export function refusalOf(failure: unknown): string | undefined {
  const faults = problemOf(failure, 'validation-failed')?.errors ?? []
  const fault = faults.find(({ pointer }) => pointer === '#/newPassword')
  return fault?.detail.replace(/^newPassword /, 'The password ')
}
