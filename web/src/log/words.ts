import { formatCount, formatTotal } from '../ui/format.ts'
import type { LogEvent } from './queries.ts'

type Data = LogEvent['data']

interface KindWords {
  /** In the list of kinds. */
  label: string
  /** Before the name of the subject: `admin` **gave roles to** `jo`. */
  verb: string
  /** After it. */
  more?(data: Data): string
  /** Whether it is about a user or a service, where only one is possible. */
  account?: 'user' | 'service'
  /** Shown in place of an erased text; absent where an event need not have one. */
  erased?: string
}

const list = (value: unknown) => (Array.isArray(value) ? value.map(String).join(', ') : '')
const inBrackets = (value: unknown) => (list(value) === '' ? '' : `(${list(value)})`)
const rolesOf = ({ roles }: Data) => inBrackets(roles)
const permissionsOf = ({ permissions }: Data) => inBrackets(permissions)

/** What changed in an account. */
function changesOf(data: Data): string {
  const parts = [
    data.formerName !== undefined && `was called ${data.formerName}`,
    data.email !== undefined && 'new email',
    data.timeZone !== undefined && `time zone ${data.timeZone ?? 'none'}`,
    data.displayName !== undefined && `named ${data.displayName ?? 'nothing'}`,
    data.endsAt !== undefined && `ends ${data.endsAt ?? 'never'}`,
    list(data.granted) !== '' && `given ${list(data.granted)}`,
    list(data.revoked) !== '' && `taken ${list(data.revoked)}`,
    data.enabled !== undefined && (data.enabled ? 'enabled' : 'disabled'),
  ]
  return parts.filter((part) => part !== false).join('; ')
}

function permissionChangesOf({ allowed, denied }: Data): string {
  const parts = [
    list(allowed) !== '' && `allowed ${list(allowed)}`,
    list(denied) !== '' && `denied ${list(denied)}`,
  ]
  return parts.filter((part) => part !== false).join('; ')
}

const ofUser = { account: 'user' } as const
const ofService = { account: 'service' } as const

/** Every kind that this version knows, by subject. */
export const kindsBySubject: Record<string, Record<string, KindWords>> = {
  Orders: {
    created: { label: 'Created', verb: 'created' },
    'approval-given': { label: 'Approval given', verb: 'gave approval to' },
    approved: { label: 'Approved', verb: 'approved' },
    rejected: { label: 'Rejected', verb: 'rejected', erased: 'The reason was erased.' },
    withdrawn: { label: 'Withdrawn', verb: 'withdrew' },
    noted: { label: 'Note added', verb: 'added a note to', erased: 'The note was erased.' },
  },
  Accounts: {
    'user-added': { label: 'User added', verb: 'added the user', more: rolesOf, ...ofUser },
    'user-changed': { label: 'User changed', verb: 'changed the user', more: changesOf, ...ofUser },
    'client-added': { label: 'Service added', verb: 'added the service', more: rolesOf, ...ofService },
    'client-changed': {
      label: 'Service changed',
      verb: 'changed the service',
      more: changesOf,
      ...ofService,
    },
    enabled: { label: 'Account enabled', verb: 'enabled the account' },
    disabled: { label: 'Account disabled', verb: 'disabled the account' },
    'roles-granted': { label: 'Roles given', verb: 'gave roles to', more: rolesOf },
    'roles-revoked': { label: 'Roles taken', verb: 'took roles from', more: rolesOf },
    'password-set': { label: 'Password set', verb: 'set the password of', ...ofUser },
    'password-changed': { label: 'Own password changed', verb: 'changed the password of', ...ofUser },
    'link-made': { label: 'One-time link created', verb: 'created a one-time link for', ...ofUser },
    'link-used': { label: 'One-time link used', verb: 'set a password by the one-time link of', ...ofUser },
    'sign-in-ended': { label: 'Sign-in ended', verb: 'ended a sign-in of', ...ofUser },
    'others-signed-out': {
      label: 'Other sign-ins ended',
      verb: 'ended all other sign-ins of',
      ...ofUser,
    },
    'signed-out': { label: 'Signed out everywhere', verb: 'ended all sign-ins of', ...ofUser },
    'everybody-signed-out': { label: 'Everyone signed out', verb: 'ended all sign-ins of' },
    'secret-rotated': {
      label: 'Secret replaced',
      verb: 'created a new secret for',
      more: ({ dropped }) => (Number(dropped) > 0 ? 'and ended the earlier ones' : ''),
      ...ofService,
    },
    'secrets-dropped': { label: 'Old secrets ended', verb: 'ended the earlier secrets of', ...ofService },
  },
  Roles: {
    'role-added': { label: 'Role added', verb: 'added the role', more: permissionsOf },
    'role-removed': { label: 'Role removed', verb: 'removed the role', more: permissionsOf },
    'permissions-allowed': {
      label: 'Permissions allowed',
      verb: 'gave permissions to the role',
      more: permissionsOf,
    },
    'permissions-denied': {
      label: 'Permissions denied',
      verb: 'took permissions from the role',
      more: permissionsOf,
    },
    'permissions-set': {
      label: 'Permissions changed',
      verb: 'changed the permissions of the role',
      more: permissionChangesOf,
    },
  },
  Others: {
    'policy-set': { label: 'Approval policy replaced', verb: 'replaced' },
    'text-erased': { label: 'Text erased', verb: 'erased the text of' },
  },
}

const kinds: Record<string, KindWords> = Object.assign({}, ...Object.values(kindsBySubject))

/** An unknown kind keeps its name. */
export function wordsOf(kind: string): KindWords {
  return Object.hasOwn(kinds, kind) && kinds[kind] ? kinds[kind] : { label: kind, verb: `${kind}:` }
}

/** The subject of the event, as part of a sentence. */
export function subjectInWords({ subject: { kind, id }, data }: Pick<LogEvent, 'subject' | 'data'>): string {
  if (kind === 'order') return orderInWords(data)
  if (kind === 'policy') return 'the approval policy'
  if (kind === 'log') return `log entry #${formatCount(Number(id))}`
  if (kind === 'account' && id === '*') return `${formatCount(Number(data.users))} users`
  return kind === 'account' ? String(data.name ?? `account ${id}`) : id
}

function orderInWords({ customer, total }: Data): string {
  if (typeof customer !== 'string' || typeof total !== 'string') return 'an order'
  return `the order for ${customer}, ${formatTotal(total as `${number}`)}`
}

/** The subject in an address, in words: `order:019a...` as `order 019a...`. */
export function subjectOfAddress(subject: string): string {
  return subject === 'policy:approval' ? 'the approval policy' : subject.replace(':', ' ')
}
