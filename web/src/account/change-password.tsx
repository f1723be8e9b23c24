import { useRef, useState } from 'react'
import { problemOf } from '../api/problem.ts'
import { passwordFailure, currentPassword as passwordField, usePasswordRequest } from '../auth/password.ts'
import { announce } from '../ui/announce.ts'
import { Form, Submit } from '../ui/form.tsx'
import { Input } from '../ui/input.tsx'
import { Note } from '../ui/note.tsx'
import { Section } from '../ui/section.tsx'
import { NewPassword } from './new-password.tsx'
import { changePassword } from './queries.ts'

interface PasswordFormProps {
  names: readonly string[]
  /** Without one, the person sets the first. */
  hasPassword: boolean
}

/** Changes the person's own password. */
export function PasswordForm({ names, hasPassword }: PasswordFormProps) {
  const current = useRef<HTMLInputElement>(null)
  const [currentPassword, setCurrent] = useState('')
  const [newPassword, setNew] = useState('')
  const changing = usePasswordRequest({
    send: changePassword,
    onSuccess() {
      setCurrent('')
      setNew('')
      announce('Your password has been changed. You are signed out everywhere else.')
    },
    onFailure(failure) {
      if (problemOf(failure, 'validation-failed')) document.getElementById('new-password')?.focus()
      else current.current?.focus()
    },
  })
  const refusal = refusalOf(changing.error)
  return (
    <Section title="Password">
      <Form
        className="stack"
        onSubmit={() =>
          changing.submit({ currentPassword: hasPassword ? currentPassword : undefined, newPassword })
        }
      >
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
        {hasPassword && (
          <Input
            {...passwordField}
            label="Current password"
            ref={current}
            value={currentPassword}
            aria-describedby="password-failure"
            onChange={({ target }) => setCurrent(target.value)}
          />
        )}
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
        <p className="soft">You stay signed in here. You’ll be signed out everywhere else.</p>
        <div className="row">
          <Submit isClosed={changing.isClosed}>
            {hasPassword
              ? changing.label('Change password', 'Changing …')
              : changing.label('Set a password', 'Setting …')}
          </Submit>
        </div>
      </Form>
    </Section>
  )
}

/** The service's message about the new password. */
export function refusalOf(failure: unknown): string | undefined {
  const faults = problemOf(failure, 'validation-failed')?.errors ?? []
  const fault = faults.find(({ pointer }) => pointer === '#/newPassword')
  return fault?.detail.replace(/^newPassword /, 'The password ')
}
