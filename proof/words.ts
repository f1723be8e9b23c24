import type { ApprovedDocument } from './document.ts'
import { accountIn } from './line.ts'
import type { LogReport } from './log.ts'
import { isOfLog, type VerifierKey } from './note.ts'
import type { Act, Approval, ApprovedOrder, Enrolment, OrderDocument, OrderRules, Person } from './order.ts'
import { hostOf } from './verdict.ts'

/** A name that somebody else chose may have control characters, which a terminal would obey. */
export const printable = (text: string) => text.replaceAll(/\p{Cc}/gu, '\ufffd')

/** How totals, instants and names are spelled where the sentences stand. */
export interface Spelling {
  total(decimal: `${number}`): string
  instant(atUtc: string): string
  name(text: string): string
}

/** The order and its approvals in sentences, for everything that shows or checks a receipt. */
export function describeOrder(order: ApprovedOrder, spelling: Spelling): string[] {
  const { number, customer, total, rules, created, documents, approvals } = order
  const { name, instant } = spelling
  const whom = customer === null ? hiddenCustomer : name(customer)
  const words = [
    `Order #${number} for ${whom} has a total of ${spelling.total(total)}.`,
    `${actorOf(created, spelling)} created it on ${instant(created.atUtc)}.`,
    `Rule: ${describeRules(rules)}.`,
    ...documents.map((document) => describeDocument(document, spelling)),
    ...approvals.map((approval, at) => {
      const count = approvals.length === 1 ? '' : `Approval ${at + 1} of ${approvals.length}: `
      return `${count}${describeApproval(approval, spelling)}`
    }),
  ]
  const isHidden = words.some((sentence) => sentence.includes(notShown))
  return isHidden ? [...words, 'A name that is not shown was erased, or taken out of what was given.'] : words
}

/** Anybody who has a receipt can leave a name out, so nothing may say that the service erased it. */
const notShown = 'name is not shown'
export const hiddenCustomer = `a customer whose ${notShown}`
export const hiddenDocument = `a document whose ${notShown}`

/** The order and the approvals of a file, which `called` names. */
export function describeApproved(called: string, found: ApprovedDocument, spelling: Spelling): string[] {
  const { number, orderId, document, approvals } = found
  const order = number === null ? `order ${orderId}` : `order #${number}`
  return [
    `${called} is a document of ${order}, which was approved.`,
    ...(document === null ? [] : [describeDocument(document, spelling)]),
    ...approvals.map(({ isSigned, ...act }) => {
      const how = isSigned ? ' A passkey signed the approval, this document included.' : ''
      return `${approvedBy(act, spelling)}.${how}`
    }),
  ]
}

const counts = ['no', 'one', 'two', 'three', 'four', 'five']

/** Such as "two approvals from people other than the creator, each signed with a passkey". */
export function describeRules({ approvals, selfApproval, services, role, passkey }: OrderRules): string {
  const whose = services ? 'people or services' : 'people'
  return [
    `${counts[approvals] ?? approvals} approval${approvals === 1 ? '' : 's'} from ${whose}${selfApproval ? '' : ' other than the creator'}`,
    ...(selfApproval ? ['also from the creator'] : []),
    ...(role === null ? [] : [`at least one in the role ${role}`]),
    ...(passkey ? ['each signed with a passkey'] : []),
  ].join(', ')
}

/** The condition of a verdict: "if keys.txt is the key of the log of orders.example.com". */
export function conditionOf(restsOn: readonly VerifierKey[], called: (key: VerifierKey) => string): string {
  const conditions = restsOn.map((key) => {
    const whose = isOfLog(key) ? `the log of ${hostOf(key.name)}` : `the witness ${key.name}`
    return `${called(key)} is the key of ${whose}`
  })
  return `if ${conditions.join(' and ')}`
}

/** Such as "Ann Smith (ann)". */
export function nameOf({ name, fullName, isShown }: Person): string {
  if (!isShown) return `${name} (${notShown})`
  return fullName === null ? name : `${fullName} (${name})`
}

/** A witness may have signed a time that no calendar has. */
export const instantOf = (seconds: number, spell = (atUtc: string) => atUtc): string =>
  seconds > 8.64e12 ? `${seconds} s after 1970` : spell(new Date(seconds * 1000).toISOString())

const actorOf = ({ by, isProgram }: Act, { name }: Spelling) =>
  isProgram ? `The service ${name(nameOf(by))}` : name(nameOf(by))

function describeDocument({ name, size, sha256, ...act }: OrderDocument, spelling: Spelling): string {
  const called = name === null ? hiddenDocument : `the document “${spelling.name(name)}”`
  return `${actorOf(act, spelling)} added ${called} (${size} bytes, SHA-256 ${sha256}) on ${spelling.instant(act.atUtc)}.`
}

function describeApproval({ signature, role, ...act }: Approval, spelling: Spelling): string {
  const held = role === null ? '' : `, in the role ${spelling.name(role)}`
  const approved = `${approvedBy(act, spelling, held)}.`
  if (signature === null) return approved
  const { passkey, issuer } = signature
  const called = passkey.name === null ? 'A passkey' : `The passkey “${spelling.name(passkey.name)}”`
  const added = `added in line ${passkey.sequence} on ${spelling.instant(passkey.atUtc)} by someone who had given ${givenFor(passkey, spelling)}`
  return `${approved} ${called} signed exactly this at ${spelling.name(issuer)}; it was ${added}.`
}

function approvedBy(act: Act, spelling: Spelling, held = ''): string {
  const instead = act.for === null ? '' : ` in the place of ${spelling.name(nameOf(act.for))}`
  return `${actorOf(act, spelling)} approved it${instead}${held} on ${spelling.instant(act.atUtc)}`
}

function givenFor(
  { restedOn, passwordSetBy }: Enrolment & { passwordSetBy: string | null },
  { name }: Spelling,
): string {
  if ('passkey' in restedOn) return 'another passkey'
  if ('company' in restedOn) return `a company account of ${name(restedOn.company)}`
  const { password, passwordSetBy: id = null } = restedOn
  if (password === 'own') return 'the password of the account'
  if (password === 'mailed') return 'a password that was set by a mailed link'
  return `a password that ${passwordSetBy === null ? accountIn(id) : name(passwordSetBy)} had set`
}

/** As in "3, 8 and 12 more". */
export const listed = (
  { events, first }: LogReport['backInTime'],
  spell: (line: number) => string = String,
) =>
  `${first.map(spell).join(', ')}${events > first.length ? ` and ${spell(events - first.length)} more` : ''}`
