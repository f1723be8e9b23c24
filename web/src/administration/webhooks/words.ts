import { eventKinds } from '../../../../client/src/facts.ts'
import { wordsOf } from '../../log/words.ts'
import { formatCount, formatInstant } from '../../ui/format.ts'
import type { Delivery, Webhook } from './queries.ts'

type Subject = keyof typeof eventKinds

/** The subjects of events. */
const subjectWords: Record<Subject, string> = {
  order: 'Orders',
  account: 'Accounts',
  role: 'Roles',
  policy: 'Approval policy',
  webhook: 'Webhooks',
  log: 'Log',
}

/** A kind of subject and its kinds of events: their names in a webhook, and words for them. */
interface Choice {
  name: string
  label: string
  kinds: { name: string; label: string }[]
}

export const choices: readonly Choice[] = (Object.keys(subjectWords) as Subject[]).map((subject) => ({
  name: subject,
  label: subjectWords[subject],
  kinds: eventKinds[subject].map((kind) => ({ name: `${subject}.${kind}`, label: wordsOf(kind).label })),
}))

const known = new Set(choices.flatMap(({ name, kinds }) => [name, ...kinds.map((kind) => kind.name)]))

/** Such as "Orders: Approved, Rejected; Accounts". A kind that this version does not know keeps its name. */
export function eventsInWords(events: readonly string[]): string {
  const parts = choices.map(({ name, label, kinds }) => {
    if (events.includes(name)) return label
    const single = kinds.filter((kind) => events.includes(kind.name)).map((kind) => kind.label)
    return single.length > 0 && `${label}: ${single.join(', ')}`
  })
  const unknown = events.filter((name) => !known.has(name))
  return [...parts.filter((part) => part !== false), ...unknown].join('; ')
}

type State = Pick<
  Webhook,
  'enabled' | 'disabledBecause' | 'sequence' | 'waiting' | 'failures' | 'failingSinceUtc' | 'nextAttemptAtUtc'
>

/** The state of a webhook: a word, the class of its sign (see controls.css), and sentences. */
export function stateInWords(state: State): { word: string; className: string; lines: string[] } {
  const { enabled, waiting, failures, failingSinceUtc, nextAttemptAtUtc } = state
  if (!enabled) return { word: 'Disabled', className: 'is-crossed tone-bad', lines: whyDisabled(state) }
  if (failures > 0) {
    const since = failingSinceUtc ? ` since ${formatInstant(failingSinceUtc)}` : ''
    const next = nextAttemptAtUtc ? formatInstant(nextAttemptAtUtc) : 'now'
    const tried = failures === 1 ? '1 attempt' : `${formatCount(failures)} attempts`
    return {
      word: 'Failing',
      className: 'tone-wait',
      lines: [`Failing${since}: ${tried} so far.`, `Next attempt: ${next}. Later events wait.`],
    }
  }
  if (waiting > 0) {
    const entries = waiting === 1 ? '1 log entry' : `${formatCount(waiting)} log entries`
    return { word: 'Sending', className: 'is-dashed tone-quiet', lines: [`${entries} to go.`] }
  }
  return {
    word: 'Up to date',
    className: 'is-full tone-good',
    lines: [`Everything up to log entry #${formatCount(state.sequence)} has been delivered.`],
  }
}

function whyDisabled({ disabledBecause }: State): string[] {
  const reasons: Record<string, string> = {
    failing: 'Disabled after three days of failed attempts.',
    gone: 'Disabled because the receiver answered that it is gone (410).',
  }
  const continues = 'Nothing is sent. Once enabled, it continues where it stopped.'
  return disabledBecause === null ? [continues] : [reasons[disabledBecause] ?? disabledBecause, continues]
}

/** The outcome of an attempt at a URL: a word, the class of its sign, and why it failed. */
export function outcomeInWords({ failure, status }: Pick<Delivery, 'failure' | 'status'>, url: string) {
  if (failure !== null) {
    const more = failure.endsWith('(ENOTFOUND)') ? `No such host: ${new URL(url).hostname}` : failure
    return { word: 'Failed', className: 'is-crossed tone-bad', more }
  }
  return { word: 'Delivered', className: 'is-full tone-good', more: `it answered ${status}` }
}

/** Such as "87 ms" or "2.5 s". */
export function formatDuration(milliseconds: number): string {
  return milliseconds < 1_000 ? `${milliseconds} ms` : `${(milliseconds / 1_000).toFixed(1)} s`
}

/** The service's message, naming the field as the form does. */
export function refusalInWords(refusal: string | undefined): string | undefined {
  return refusal
    ?.replace(/^The url /, 'The address ')
    .replace(/^The url: (.)/, (_, first: string) => first.toUpperCase())
}
