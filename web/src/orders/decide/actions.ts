import { orderTransitions } from '../../../../client/src/facts.ts'
import { client } from '../../api/client.ts'
import { type ActionName, words } from '../states.ts'
import { changeOf, type Decision } from './queries.ts'

interface Action {
  /** On the action's button. */
  name: string
  key?: 'a' | 'r'
  doing: string
  /** As in "You approved 2". */
  past: string
  /** How the action asks for a reason, if it needs or allows one. */
  reason?: { label: string; isAsked: boolean }
  /** The sentence below the order that says what the action means. `name` is such as "in your name". */
  meaning(name: string): string
  meaningOfSeveral(name: string): string
  /**
   * Resolves when it has happened. Throws `ProblemError` or `NoAnswerError`; may be called again with the
   * same input.
   */
  send(decision: Decision): Promise<unknown>
}

/** Every transition has its words and its request here. */
export const actions: Record<ActionName, Action> = {
  approve: {
    name: 'Approve',
    key: 'a',
    doing: 'Approving …',
    past: 'approved',
    meaning: (name) => `You approve it ${name}. This cannot be undone.`,
    meaningOfSeveral: (name) => `You approve them ${name}. This cannot be undone.`,
    send: (decision) => client.orders.approve(decision.id, changeOf(decision)),
  },
  reject: {
    name: 'Reject',
    key: 'r',
    doing: 'Rejecting …',
    past: 'rejected',
    reason: { label: 'Reason', isAsked: true },
    meaning: (name) => `You reject it ${name}, and the reason stays in its history. This cannot be undone.`,
    meaningOfSeveral: (name) =>
      `You reject them ${name}, and the reason stays in the history of each. This cannot be undone.`,
    send: (decision) => client.orders.reject(decision.id, decision.reason ?? '', changeOf(decision)),
  },
  withdraw: {
    name: 'Withdraw',
    doing: 'Withdrawing …',
    past: 'withdrew',
    reason: { label: 'Reason (optional)', isAsked: false },
    meaning: () => 'You withdraw the order that you created. This cannot be undone.',
    meaningOfSeveral: () => 'You withdraw the orders that you created. This cannot be undone.',
    send: (decision) => client.orders.withdraw(decision.id, decision.reason, changeOf(decision)),
  },
}

export const stateAfter = (action: ActionName) => orderTransitions[action].to
/** As in "The order was approved". */
export const doneWord = (action: ActionName) => words[stateAfter(action)].meaning
