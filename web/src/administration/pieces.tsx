import { type ReactNode, type Ref, useEffect, useId, useRef } from 'react'
import { Button } from 'react-aria-components/Button'
import { copy } from '../ui/copy.ts'
import { isOutdated } from '../ui/describe.ts'
import { EndNote } from '../ui/failure.tsx'
import { CopyIcon } from '../ui/icons.tsx'
import { Note } from '../ui/note.tsx'

/** A secret that is shown once. It takes the focus, so that no one misses it. */
export function ShownOnce({ label, text, children }: { label: string; text: string; children: ReactNode }) {
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => {
    field.current?.focus()
    field.current?.select()
  }, [])
  return (
    <Note kind="warning" title={`${label}: shown only once`} lines={[]}>
      <div className="stack gap-3">
        {children}
        <ToCopy ref={field} label={label} text={text} />
      </div>
    </Note>
  )
}

interface ToCopyProps {
  ref?: Ref<HTMLInputElement>
  label: string
  text: string
}

/** A text that belongs elsewhere. */
export function ToCopy({ ref, label, text }: ToCopyProps) {
  const id = useId()
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <div className="row nowrap">
        <input ref={ref} id={id} className="code" readOnly value={text} />
        <Button className="button" onPress={() => void copy(text, label)}>
          <CopyIcon /> Copy
        </Button>
      </div>
    </div>
  )
}

/**
 * Why a change failed. Always rendered, because screen readers watch it. `onLoad` is given if the fields
 * still hold what was typed.
 */
export function Refused({ failure, onLoad }: { failure: unknown; onLoad?: () => void }) {
  return (
    <div role="status">
      {isOutdated(failure) ? (
        <Note
          kind="warning"
          title="Someone else has changed this"
          lines={[
            onLoad
              ? 'Your changes are still here, but not saved.'
              : 'The current version is loaded. Check it, then make your change again.',
          ]}
          action={onLoad && { name: 'Load current version', act: onLoad }}
        />
      ) : (
        failure != null && <EndNote failure={failure} />
      )}
    </div>
  )
}

interface AccountStateProps {
  enabled: boolean
  isInvited?: boolean
}

export function AccountState({ enabled, isInvited = false }: AccountStateProps) {
  if (!enabled) return <span className="status sign is-crossed tone-bad">Disabled</span>
  if (isInvited) return <span className="status sign tone-wait">Invited</span>
  return <span className="status sign is-full tone-good">Enabled</span>
}
