import { touchFailure } from '../../auth/passkeys.ts'
import { EndNote } from '../../ui/failure.tsx'
import { Note } from '../../ui/note.tsx'
import type { Touch } from './touch.ts'

/** The state of a touch, or why it signed nothing. Screen readers watch its place. */
export function TouchNote({ touch }: { touch: Touch }) {
  if (touch === undefined) return null
  if (touch.kind === 'awaited') return <Note kind="waiting">Waiting for your passkey …</Note>
  const why = touchFailure(touch.failure)
  if (why === undefined) return <EndNote failure={touch.failure} />
  return <Note kind="warning">{why} Nothing was sent.</Note>
}
