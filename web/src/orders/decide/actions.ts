import { orderTransitions } from '../../../../client/src/facts.ts'
import { type ActionName, words } from '../states.ts'
import { approveOrder, type Decision, rejectOrder, withdrawOrder } from './queries.ts'

interface Action {
  /** On its button. */
  name: string
  key?: 'a' | 'r'
  doing: string
  /** As in "You approved 2". */
  past: string
  noun: string
  /** How it asks for a reason, if it takes one. */
  reason?: { label: string; isAsked: boolean }
  /** What it means, below the order. */
  meaning: string
  /**
   * Resolves when it has happened. Throws `ProblemError` or `NoAnswerError`; may be called again with the
   * same input.
   */
  send(decision: Decision): Promise<void>
}

/** Every transition has its words and its request here. */
export const actions: Record<ActionName, Action> = {
  approve: {
    name: 'Approve',
    key: 'a',
    doing: 'Approving …',
    past: 'approved',
    noun: 'approval',
    meaning: 'You approve it in your name. This cannot be undone.',
    send: approveOrder,
  },
  reject: {
    name: 'Reject',
    key: 'r',
    doing: 'Rejecting …',
    past: 'rejected',
    noun: 'rejection',
    reason: { label: 'Reason', isAsked: true },
    meaning: 'You reject it in your name, and the reason stays in its history. This cannot be undone.',
    send: rejectOrder,
  },
  withdraw: {
    name: 'Withdraw',
    doing: 'Withdrawing …',
    past: 'withdrew',
    noun: 'withdrawal',
    reason: { label: 'Reason (optional)', isAsked: false },
    meaning: 'You withdraw the order that you created. This cannot be undone.',
    send: withdrawOrder,
  },
}

export const stateAfter = (action: ActionName) => orderTransitions[action].to
/** As in "The order was approved". */
export const doneWord = (action: ActionName) => words[stateAfter(action)].meaning
