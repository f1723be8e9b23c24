import { problemOf } from '../../api/problem.ts'
import { endInWords } from '../../ui/describe.ts'
import { formatTotal, shortName } from '../../ui/format.ts'
import { isolated } from '../../ui/isolate.ts'
import { shortNumber } from '../identity.ts'
import { nameOf, pending, words } from '../states.ts'
import { deeds } from './actions.ts'
import { failureOf } from './decisions.ts'
import type { Entry } from './outbox.ts'

/** As "Acme, 1,234.00". */
export function nameOfEntry({ order, decision }: Entry): string {
  if (order === undefined) return `order ${shortNumber(decision.id)}`
  return `${isolated(shortName(order.customer, 40))}, ${formatTotal(order.total)}`
}

/** What a person is told of a decision that did not happen, or of which that is not certain. */
export function toldOf(entry: Entry, userName: string): { title: string; detail: string } {
  const done = words[deeds[entry.deed].to].meaning
  const { state } = entry
  const isUnclear = state.kind === 'left' || (state.kind === 'failed' && state.progress.kind === 'unclear')
  if (isUnclear) {
    return {
      title: `Perhaps not ${done}: ${nameOfEntry(entry)}`,
      detail: 'There was no answer. It is safe to try again: nothing happens twice.',
    }
  }
  return { title: `Not ${done}: ${nameOfEntry(entry)}`, detail: whyNot(entry, userName) }
}

function whyNot({ state }: Entry, userName: string): string {
  const progress = state.kind === 'failed' ? state.progress : undefined
  const failure = progress && failureOf(progress)
  const now = progress?.kind === 'refused' ? progress.now?.order : undefined
  if (now !== undefined) return whoWasFaster(now.status, now.modifiedBy, userName)
  if (problemOf(failure, 'order-not-found')) return 'It no longer exists.'
  if (problemOf(failure, 'permission-denied')) return 'Your role no longer includes that.'
  if (problemOf(failure, 'self-approval')) return 'You created it, so somebody else has to approve it.'
  if (problemOf(failure, 'already-approved-by-you'))
    return 'You have already approved it. Somebody else has to, too.'
  return endInWords(failure)
}

function whoWasFaster(status: number, modifiedBy: string | null, userName: string): string {
  const state = nameOf(status)
  const who = modifiedBy === null ? 'Somebody else' : isolated(modifiedBy)
  if (status === pending || state === undefined) return `${who} has changed it. Look at it again.`
  if (modifiedBy === userName) return `You have ${words[state].meaning} it already, perhaps in another tab.`
  return `${who} has ${words[state].meaning} it first.`
}
