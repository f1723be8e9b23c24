import type { ReactNode } from 'react'
import { Button } from 'react-aria-components/Button'
import { ClockIcon, WarningIcon } from './icons.tsx'

interface NoteProps {
  kind: 'waiting' | 'warning' | 'bad'
  title?: string | undefined
  /** Lines below the title; `undefined` entries are left out. */
  lines?: readonly (string | undefined)[]
  action?: { name: string; act(): void } | undefined
  /** Absent if the element around the note already has a role. */
  role?: 'status' | undefined
  children?: ReactNode
}

const tones = { waiting: '', warning: 'tone-wait', bad: 'tone-bad' }

/** Something unusual in a few words, and an action to take. */
export function Note({ kind, title, lines = [], action, role, children }: NoteProps) {
  return (
    <div className={`note ${tones[kind]}`} role={role}>
      {kind === 'waiting' ? <ClockIcon /> : <WarningIcon />}
      <div>
        {title && <strong>{title}</strong>}
        {lines.map((line) => line && <p key={line}>{line}</p>)}
        {children}
      </div>
      {action && (
        <Button className="button button-small" onPress={action.act}>
          {action.name}
        </Button>
      )}
    </div>
  )
}

/** Shown instead of a view that this person's roles do not include. */
export function Denied({ what }: { what: string }) {
  const lines = ['Your administrator can give you a role that can.']
  return <Note kind="warning" title={`You cannot ${what}`} lines={lines} />
}
