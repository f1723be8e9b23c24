import type { MailKind } from '../mail/mail.ts'
import { grantRoles, revokeRoles, setAccountEnabled } from './accounts/accounts.ts'
import {
  addClient,
  changeClient,
  dropOldClientSecrets,
  rotateClientSecret,
} from './accounts/clients/clients.ts'
import { findClients, noteClientUse } from './accounts/clients/store.ts'
import {
  addRole,
  allowPermissions,
  denyPermissions,
  removeRole,
  setRolePermissions,
} from './accounts/roles/roles.ts'
import { endAbsence, findDeputies, setAbsence } from './accounts/users/absence.ts'
import { inviteUser, makeLink, useLink } from './accounts/users/links.ts'
import { expiredLinks, findUsers } from './accounts/users/store.ts'
import { addUser, changeUser, setPassword, signOutUser, signOutUsers } from './accounts/users/users.ts'
import { changedCredentials, emailAsked, emailMoved } from './credentials/changed.ts'
import {
  confirmByCompany,
  enterByCompany,
  linkCompany,
  logoutByCompany,
  unlinkCompany,
} from './credentials/company/company.ts'
import { changePassword, endOtherSignIns, endSignIn, removePassword } from './credentials/credentials.ts'
import {
  forgottenPassword,
  makeMailedLink,
  newEmail,
  requestLink,
  sentLink,
  sortRequests,
} from './credentials/mailed-links.ts'
import { requestEmail, useEmailLink } from './credentials/new-email.ts'
import { addPasskey, removePasskey, renamePasskey } from './credentials/passkeys/passkeys.ts'
import { usedChallenges } from './credentials/passkeys/store.ts'
import {
  confirmSession,
  createSession,
  endedSessions,
  endSession,
  refreshSession,
  touchSession,
} from './credentials/sessions/store.ts'
import {
  forgottenAddresses,
  forgottenTries,
  reserveLoginTry,
  returnLoginTry,
} from './credentials/throttle/store.ts'
import {
  createRefreshFamily,
  endedFamilies,
  endFamily,
  rotateRefreshToken,
} from './credentials/tokens/store.ts'

export const writes = {
  createSession,
  refreshSession,
  confirmSession,
  endSession,
  touchSession,
  enterByCompany,
  confirmByCompany,
  linkCompany,
  unlinkCompany,
  logoutByCompany,
  createRefreshFamily,
  rotateRefreshToken,
  endFamily,
  reserveLoginTry,
  returnLoginTry,
  addUser,
  changeUser,
  setPassword,
  inviteUser,
  makeLink,
  useLink,
  requestLink,
  sortRequests,
  makeMailedLink,
  requestEmail,
  useEmailLink,
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
}

export const reads = { findUsers, findClients, findDeputies }

export const jobs = [
  endedSessions,
  endedFamilies,
  forgottenTries,
  forgottenAddresses,
  expiredLinks,
  usedChallenges,
]

export const mailKinds: readonly MailKind[] = [
  changedCredentials,
  emailAsked,
  emailMoved,
  newEmail,
  sentLink,
  forgottenPassword,
]
