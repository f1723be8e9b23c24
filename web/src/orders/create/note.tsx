import { problemOf } from '../../api/problem.ts'
import { describeFailure } from '../../ui/describe.ts'
import { Note } from '../../ui/note.tsx'
import type { Attempt } from './attempt.ts'

interface AttemptNoteProps {
  attempt: Attempt
  /** The fields themselves say what is wrong. */
  hasFieldFaults: boolean
  onStop(): void
}

/** The note about the creation. Always rendered, because screen readers watch it. */
export function AttemptNote({ attempt, hasFieldFaults, onStop }: AttemptNoteProps) {
  const words = hasFieldFaults ? undefined : wordsFor(attempt)
  return (
    <div className="wrap create-attempt" role="status">
      {words && (
        <Note
          kind={attempt.kind === 'failed' ? 'bad' : attempt.kind === 'trying' ? 'waiting' : 'warning'}
          title={words.title}
          lines={[words.detail, words.more]}
          action={attempt.kind === 'trying' ? { name: 'Stop trying', act: onStop } : undefined}
        />
      )}
    </div>
  )
}

const waiting = 'Your order is being sent. It will be created only once.'
const once = 'Your order will be created only once, however many tries it takes.'
const unclear =
  'It may have been created anyway. You can safely send it again unchanged: there will be only one.'

interface Words {
  title: string
  detail: string
  more?: string
}

function wordsFor(attempt: Attempt): Words | undefined {
  if (attempt.kind === 'stopped') {
    const detail = attempt.isUnclear ? unclear : 'The order was not created. Your entries are still here.'
    return { title: 'Stopped', detail }
  }
  if (attempt.kind === 'failed') {
    return { ...describeRefusal(attempt.failure), ...(attempt.isUnclear && { more: unclear }) }
  }
  if (attempt.kind !== 'trying') return undefined
  if (attempt.failure !== undefined) {
    return { ...describeFailure(attempt.failure), more: once }
  }
  return attempt.isSlow ? { title: 'This is taking longer than usual', detail: waiting } : undefined
}

function describeRefusal(failure: unknown): Words {
  if (problemOf(failure, 'permission-denied')) {
    return {
      title: 'You can no longer create orders',
      detail: 'Your administrator can give you a role that can. Your entries are still here.',
    }
  }
  return describeFailure(failure)
}
