import type { StateName } from '../states.ts'
import { approveOrder, type Decision, rejectOrder, withdrawOrder } from './queries.ts'

export type DeedName = 'approve' | 'reject' | 'withdraw'

export interface Deed {
  /** The state that it leads to; its meaning is the participle of the deed. */
  to: StateName
  /** On its button. */
  name: string
  doing: string
  noun: string
  /** How it asks for a reason, if it takes one. */
  reason?: { label: string; isAsked: boolean }
  /** What it means, below the order. */
  meaning: string
  /** Resolves when it has happened. Throws `ProblemError` or `NoAnswerError`; may be called again as it was. */
  send(decision: Decision): Promise<void>
}

/** All that one may decide about a pending order; a new transition has its words and its request here. */
export const deeds: Record<DeedName, Deed> = {
  approve: {
    to: 'Approved',
    name: 'Approve',
    doing: 'Approving …',
    noun: 'approval',
    meaning: 'You approve it in your name. This cannot be undone.',
    send: approveOrder,
  },
  reject: {
    to: 'Rejected',
    name: 'Reject',
    doing: 'Rejecting …',
    noun: 'rejection',
    reason: { label: 'Reason', isAsked: true },
    meaning: 'You reject it in your name, and the reason stays in its history. This cannot be undone.',
    send: rejectOrder,
  },
  withdraw: {
    to: 'Withdrawn',
    name: 'Withdraw',
    doing: 'Withdrawing …',
    noun: 'withdrawal',
    reason: { label: 'Reason (optional)', isAsked: false },
    meaning: 'You take back the order that you created. This cannot be undone.',
    send: withdrawOrder,
  },
}
