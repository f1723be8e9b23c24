import type { MailKind } from '../mail/mail.ts'
import { addDocument, eraseDocument, keepPiece, leftovers, removeDocument } from './documents/documents.ts'
import { findExportBatch } from './export/find.ts'
import { addNote, approveOrder, rejectOrder, withdrawOrder } from './life/life.ts'
import { keepReceipt } from './life/store.ts'
import { findOrders } from './list/find.ts'
import { findOrdersAtOnce } from './list/postgres.ts'
import { decidedMail, digestMail, findWaiting, waitingMail } from './mails/mails.ts'
import { findNoted, notedMail } from './mails/noted.ts'
import { addOrders, createOrder, createOrders } from './orders.ts'
import { findOverview } from './overview/overview.ts'
import { setApprovalPolicy } from './policy/policy.ts'
import { countStranded } from './policy/store.ts'
import { findPolicyWarnings } from './policy/warnings.ts'
import { merging } from './postgres.ts'
import { deleteView, putView } from './views/views.ts'

export const writes = {
  createOrder,
  approveOrder,
  rejectOrder,
  withdrawOrder,
  addNote,
  keepReceipt,
  keepPiece,
  addDocument,
  removeDocument,
  eraseDocument,
  setApprovalPolicy,
  putView,
  deleteView,
  addOrders,
}

/** Writes that several callers can share one transaction for (PostgreSQL). */
export const groupedWrites = { createOrder: createOrders }

export const reads = {
  findOrders,
  findOverview,
  findExportBatch,
  findPolicyWarnings,
  findNoted,
  findWaiting,
  countStranded,
}

/** Reads that one statement may answer (PostgreSQL). */
export const singleReads = { findOrders: findOrdersAtOnce }

export const jobs = [merging, leftovers]

export const mailKinds: readonly MailKind[] = [waitingMail, digestMail, decidedMail, notedMail]
