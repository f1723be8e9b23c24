import { beginEra } from './audit/era.ts'
import { eraseText } from './audit/erase.ts'
import { findEventsOf, findLogLines } from './audit/lines.ts'
import { sealEvents, sealing } from './audit/seal.ts'
import { beginRound } from './audit/store.ts'
import { keepFindings } from './audit/witnesses/store.ts'
import { grantRoles, revokeRoles, setAccountEnabled } from './auth/accounts/accounts.ts'
import {
  addClient,
  changeClient,
  dropOldClientSecrets,
  rotateClientSecret,
} from './auth/accounts/clients/clients.ts'
import { findClients, noteClientUse } from './auth/accounts/clients/store.ts'
import {
  addRole,
  allowPermissions,
  denyPermissions,
  removeRole,
  setRolePermissions,
} from './auth/accounts/roles/roles.ts'
import { endAbsence, findDeputies, setAbsence } from './auth/accounts/users/absence.ts'
import { addUsers, makeLinks } from './auth/accounts/users/import/import.ts'
import { renewPasswordHash } from './auth/accounts/users/import/store.ts'
import { makeLink, useLink } from './auth/accounts/users/links.ts'
import { expiredLinks, findUsers } from './auth/accounts/users/store.ts'
import { addUser, changeUser, setPassword, signOutUser, signOutUsers } from './auth/accounts/users/users.ts'
import { changedCredentials, emailMoved } from './auth/credentials/changed.ts'
import { changePassword, endOtherSignIns, endSignIn, removePassword } from './auth/credentials/credentials.ts'
import { forgottenPassword, makeMailedLink, requestLink } from './auth/credentials/forgotten.ts'
import { makeEmailLink, newEmail, requestEmail, useEmailLink } from './auth/credentials/new-email.ts'
import { addPasskey, removePasskey, renamePasskey } from './auth/credentials/passkeys/passkeys.ts'
import { usedChallenges } from './auth/credentials/passkeys/store.ts'
import { makeSentLink, sentLink } from './auth/credentials/sent-links.ts'
import {
  confirmSession,
  createSession,
  endedSessions,
  endSession,
  refreshSession,
  touchSession,
} from './auth/credentials/sessions/store.ts'
import {
  forgottenAddresses,
  forgottenTries,
  reserveLoginTry,
  returnLoginTry,
} from './auth/credentials/throttle/store.ts'
import {
  createRefreshFamily,
  endedFamilies,
  endFamily,
  rotateRefreshToken,
} from './auth/credentials/tokens/store.ts'
import { type ConnectOptions, openDatabase } from './db/open.ts'
import type { AppDatabase, GroupedOperations } from './db/port.ts'
import { seedDemo } from './demo/demo.ts'
import { expiredKeys } from './http/idempotency.ts'
import { problemCodec } from './http/problems.ts'
import { eventMailer, type MailKind } from './mail/mail.ts'
import { putMailSettings, queueDigests } from './mail/settings.ts'
import { claimMail, dropMail, noteSentMail, sentMails } from './mail/store.ts'
import { findExportBatch } from './orders/export/find.ts'
import { addNote, approveOrder, rejectOrder, withdrawOrder } from './orders/life/life.ts'
import { keepReceipt } from './orders/life/store.ts'
import { findOrders } from './orders/list/find.ts'
import { findOrdersAtOnce } from './orders/list/postgres.ts'
import { decidedMail, digestMail, waitingMail } from './orders/mails/mails.ts'
import { findWaiting } from './orders/mails/store.ts'
import { addOrders, createOrder, createOrders, proposeOrder } from './orders/orders.ts'
import { findOverview } from './orders/overview/overview.ts'
import { setApprovalPolicy } from './orders/policy/policy.ts'
import { findPolicyWarnings } from './orders/policy/warnings.ts'
import { merging } from './orders/postgres.ts'
import { deleteView, putView } from './orders/views/views.ts'
import { holdOutbox, leaveOutbox, passOver, recordAttempt } from './outbox/outbox.ts'
import {
  addWebhook,
  changeWebhook,
  recordPing,
  removeWebhook,
  replayWebhook,
  rotateWebhookSecret,
} from './outbox/webhooks/webhooks.ts'
import { jobRunner } from './upkeep.ts'

/** What the service does by the clock (upkeep.ts). */
export const jobs = [
  sealing,
  merging,
  endedSessions,
  endedFamilies,
  forgottenTries,
  forgottenAddresses,
  expiredLinks,
  sentMails,
  usedChallenges,
  expiredKeys,
]

/** Every kind of mail that the service sends. */
export const mailKinds: readonly MailKind[] = [
  forgottenPassword,
  sentLink,
  changedCredentials,
  newEmail,
  emailMoved,
  waitingMail,
  digestMail,
  decidedMail,
]

/** Every write operation by name; `db.write` takes its types from here. */
export const operations = {
  runJob: jobRunner(jobs),
  sealEvents,
  beginRound,
  keepFindings,
  holdOutbox,
  leaveOutbox,
  recordAttempt,
  passOver,
  addWebhook,
  changeWebhook,
  removeWebhook,
  rotateWebhookSecret,
  replayWebhook,
  recordPing,
  eraseText,
  beginEra,
  createOrder,
  proposeOrder,
  approveOrder,
  rejectOrder,
  withdrawOrder,
  addNote,
  keepReceipt,
  setApprovalPolicy,
  putView,
  deleteView,
  addOrders,
  createSession,
  refreshSession,
  confirmSession,
  endSession,
  touchSession,
  createRefreshFamily,
  rotateRefreshToken,
  endFamily,
  reserveLoginTry,
  returnLoginTry,
  addUser,
  changeUser,
  setPassword,
  addUsers,
  makeLinks,
  renewPasswordHash,
  makeLink,
  useLink,
  requestLink,
  makeMailedLink,
  makeSentLink,
  requestEmail,
  makeEmailLink,
  useEmailLink,
  putMailSettings,
  queueDigests,
  queueEventMails: eventMailer(mailKinds),
  claimMail,
  noteSentMail,
  dropMail,
  setAbsence,
  endAbsence,
  addPasskey,
  renamePasskey,
  removePasskey,
  changePassword,
  removePassword,
  endSignIn,
  endOtherSignIns,
  setAccountEnabled,
  signOutUser,
  signOutUsers,
  grantRoles,
  revokeRoles,
  addClient,
  changeClient,
  noteClientUse,
  rotateClientSecret,
  dropOldClientSecrets,
  addRole,
  removeRole,
  allowPermissions,
  denyPermissions,
  setRolePermissions,
  seedDemo,
}

/** Operations that several callers can share one transaction for (PostgreSQL). */
export const groupedOperations: GroupedOperations = { createOrder: createOrders }

/** Every read that may take long, by name; `db.query` takes its types from here. */
export const reads = {
  findOrders,
  findOverview,
  findExportBatch,
  findLogLines,
  findEventsOf,
  findUsers,
  findClients,
  findDeputies,
  findPolicyWarnings,
  findWaiting,
}

/** Reads that one statement may answer (PostgreSQL). */
const singleReads = { findOrders: findOrdersAtOnce }

declare module './db/port.ts' {
  interface Registered {
    operations: typeof operations
    reads: typeof reads
  }
}

/** The database port with the operations and reads of this service. */
export function openAppDatabase(options: ConnectOptions): Promise<AppDatabase> {
  return openDatabase({
    ...options,
    operations,
    groupedOperations,
    reads,
    singleReads,
    writerEntry: new URL('./writer.ts', import.meta.url),
    readerEntry: new URL('./reader.ts', import.meta.url),
    refusals: problemCodec,
  })
}
