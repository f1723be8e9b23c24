import { canonicalJson } from './canonical.ts'
import { type KeptSignature, type PublicKey, verifyDecision } from './decision.ts'
import { type LogLine, namesIn, valueIn } from './line.ts'

/** By which an order is decided: the row of the policy at the time of its creation. */
export interface OrderRules {
  approvals: number
  /** Whether the creator may approve. */
  selfApproval: boolean
  services: boolean
  /** At least one approver must hold it. */
  role: string | null
  /** Whether each approval must be signed. */
  passkey: boolean
}

export interface Person {
  /** Null for a command. */
  id: number | null
  /** The user name, or what stands in its place. */
  name: string
  /** Whether the line shows the name: it may have been erased, or taken out of what was given. */
  isShown: boolean
  /** As it is printed. */
  fullName: string | null
}

/** Something that somebody did to an order. */
export interface Act {
  /** The line of the log that says so. */
  sequence: number
  atUtc: string
  by: Person
  /** The absent person in whose place it was done. */
  for: Person | null
  /** Whether a service did it. */
  isProgram: boolean
}

export interface Approval extends Act {
  /** The role that the rules ask for, if the approver held it. */
  role: string | null
  signature: {
    /** The service at whose page it was signed. */
    issuer: string
    passkey: Enrolment & { name: string | null; passwordSetBy: string | null }
  } | null
}

export interface OrderDocument extends Act {
  name: string | null
  mediaType: string
  size: number
  sha256: string
}

/** An approved order, as its lines in the log say. */
export interface ApprovedOrder {
  id: string
  number: number
  /** Null if no line shows the name: it may have been erased, or taken out of what was given. */
  customer: string | null
  total: `${number}`
  rules: OrderRules
  created: Act
  documents: OrderDocument[]
  /** As many as the rules ask for, in their order. */
  approvals: Approval[]
  /** The line that approved it. */
  sequence: number
}

/** A passkey from the line of its enrolment on. */
export interface Enrolment {
  accountId: string
  publicKey: PublicKey
  sequence: number
  atUtc: string
  /** The credential that its owner had last given. `passwordSetBy` is an account, or null for a command. */
  restedOn:
    | { passkey: string }
    /** The issuer of a company account. */
    | { company: string; password: 'none' }
    | { password: 'own' | 'mailed' | 'set'; passwordSetBy?: number | null }
}

type Line = Omit<LogLine, 'data'> & {
  // biome-ignore lint/suspicious/noExplicitAny: depends on the kind, and may be forged
  data: any
}

/** An order that is not decided yet. */
interface Pending {
  rules: OrderRules
  total: string
  customer: string | null
  creators: readonly (number | null)[]
  version: number
  given: number
  isRoleHeld: boolean
  /** Those who approved, and those for whom. */
  people: Set<number | null>
  /** SHA-256 of each document, by its id. */
  documents: Map<string, string>
}

const isText = (value: unknown): value is string => typeof value === 'string'

type Judge = (line: Line, order: Pending) => string | undefined

/** The kinds of events that an order's approval depends on. */
const judges: Record<string, Judge> = {
  'document-added': ({ data: { document } }, order) => {
    const { id, mediaType, sha256, size } = document
    if (![id, mediaType, sha256].every(isText) || !Number.isSafeInteger(size)) throw new TypeError()
    if (order.documents.has(id)) return 'the order has this document already'
    return changeDocuments(order, () => order.documents.set(id, sha256))
  },
  'document-removed': ({ data: { document } }, order) =>
    changeDocuments(order, () => order.documents.delete(document.id)),
  'approval-given': faultOfApproval,
  approved: faultOfApproval,
  rejected: faultOfDocuments,
  withdrawn: () => undefined,
}

const actions: Record<string, 'approve' | 'reject'> = {
  approved: 'approve',
  'approval-given': 'approve',
  rejected: 'reject',
}
export const endings: readonly string[] = ['approved', 'rejected', 'withdrawn']

/**
 * Judges the lines of a log, or of one order in it, one by one: each order by the rules in its own line, and
 * each signature by the key that its own line enrolled. It keeps the passkeys and what it needs of pending
 * orders.
 */
export class OrderCheck {
  readonly #passkeys = new Map<string, Enrolment>()
  readonly #orders = new Map<string, Pending>()
  /** How many signatures hold. */
  signed = 0

  /** The reason why the line does not fit those before it, if it does not. */
  async see(line: LogLine): Promise<string | undefined> {
    try {
      if (line.subject.kind === 'order') return await this.#seeOrder(line)
      return line.subject.kind === 'account' ? this.#seeAccount(line) : undefined
    } catch {
      return 'its data is not what an event of its kind has'
    }
  }

  #seeAccount({ kind, subject, sequence, atUtc, data }: Line): string | undefined {
    const { passkey, passkeys = [] } = data
    if (kind === 'passkey-added') {
      const { id, publicKey, restedOn } = passkey
      if (![restedOn.password, restedOn.passkey].some(isText)) throw new TypeError()
      if (this.#passkeys.has(id)) return 'its passkey is there already'
      this.#passkeys.set(id, { accountId: subject.id, publicKey, sequence, atUtc, restedOn })
    } else if (kind === 'passkey-removed') this.#passkeys.delete(passkey.id)
    for (const id of passkeys) this.#passkeys.delete(id)
    return undefined
  }

  async #seeOrder(line: Line): Promise<string | undefined> {
    const { kind, subject, version, data } = line
    const order = this.#orders.get(subject.id)
    if (kind === 'created') {
      if (order !== undefined) return 'the order was created before'
      this.#orders.set(subject.id, pendingOf(line))
      return undefined
    }
    const judge = Object.hasOwn(judges, kind) ? judges[kind] : undefined
    if (judge === undefined) return undefined
    if (order === undefined) return 'no line before has created the order, or one has decided it'
    const customer = valueIn(line, 'customer')
    const isErased = customer === null || order.customer === null
    if (data.total !== order.total || !(isErased || customer === order.customer))
      return 'its customer or total is not that of the order'
    if (version === null || version <= order.version) return 'its version is not above the one before'
    const fault = judge(line, order) ?? (await this.#faultOfSignature(line))
    if (endings.includes(kind)) this.#orders.delete(subject.id)
    else order.version = version
    return fault
  }

  async #faultOfSignature({ data, ...line }: Line): Promise<string | undefined> {
    const signature: KeptSignature | undefined = data.signature
    if (signature === undefined) return undefined
    const passkey = this.enrolmentOf(signature)
    if (passkey === undefined || passkey.accountId !== String(line.byId)) {
      return 'it is signed with a passkey that the account did not have then'
    }
    try {
      const said = await verifyDecision(signature, passkey.publicKey)
      const { kind, subject, version, byId, forId, hashes } = line
      const order = { id: subject.id, version: Number(version) - 1, total: data.total }
      const done = { action: actions[kind], order, documents: data.documents ?? [], byId, forId, hashes }
      if (canonicalJson({ ...said, ...done }) !== signature.statement) {
        return 'its signature is over something else'
      }
    } catch (error) {
      return `its signature does not hold: ${(error as Error).message}`
    }
    this.signed += 1
    return undefined
  }

  /** The passkey that made the signature, if it is still enrolled. */
  enrolmentOf(signature: KeptSignature): Enrolment | undefined {
    return this.#passkeys.get(signature?.credential?.id)
  }
}

function pendingOf(line: Line): Pending {
  const { rules, total, ownerId = null } = line.data
  if (!isRules(rules) || !isText(total) || !/^\d+(?:\.\d+)?$/.test(total) || line.version === null)
    throw new TypeError()
  return {
    rules,
    total,
    customer: valueIn(line, 'customer'),
    creators: ownerId === null ? [line.byId] : [line.byId, ownerId],
    version: line.version,
    given: 0,
    isRoleHeld: false,
    people: new Set(),
    documents: new Map(),
  }
}

function isRules({ approvals, selfApproval, services, role, passkey }: OrderRules): boolean {
  const flags: unknown[] = [selfApproval, services, passkey]
  return (
    approvals > 0 &&
    Number.isSafeInteger(approvals) &&
    flags.every((flag) => typeof flag === 'boolean') &&
    (role === null || isText(role))
  )
}

function changeDocuments({ given }: Pending, change: () => void): string | undefined {
  if (given > 0) return 'it changes the documents of an order that somebody has approved'
  change()
  return undefined
}

function faultOfDocuments({ data: { documents = [] } }: Line, order: Pending): string | undefined {
  const there = [...order.documents.values()].sort()
  return canonicalJson(documents) === canonicalJson(there)
    ? undefined
    : 'its documents are not those that the order has then'
}

function faultOfApproval(line: Line, order: Pending): string | undefined {
  const { rules, people } = order
  const { byId, forId, data, kind } = line
  const both = [...new Set([byId, forId ?? byId])]
  if (both.some((person) => people.has(person))) return 'somebody in it approved the order before'
  for (const person of both) people.add(person)
  if (!rules.selfApproval && order.creators.some((creator) => both.includes(creator))) {
    return 'the rules of the order do not let its creator approve it'
  }
  if (!rules.services && data.program !== undefined)
    return 'the rules of the order do not let services approve it'
  if (rules.passkey && data.signature === undefined) return 'the rules of the order ask for a signature'
  const { role = null } = data
  if (role !== null && role !== rules.role) return 'it has a role that the rules of the order do not ask for'
  order.isRoleHeld ||= role !== null
  order.given += 1
  if ((kind === 'approved') !== (order.given === rules.approvals)) {
    return `it is approval ${order.given}, and the rules of the order ask for ${rules.approvals}`
  }
  if (kind === 'approved' && rules.role !== null && !order.isRoleHeld) {
    return `nobody of the role ${rules.role} has approved the order`
  }
  return faultOfDocuments(line, order)
}

/**
 * Reads an order from its lines, by sequence: its creation, the documents that were approved, each approval,
 * and the enrolment of each passkey that signed one. Nothing else says what a receipt means. Throws an Error
 * that names the first fault: lines that do not fit each other, or one that is missing or belongs elsewhere.
 */
export async function readOrder(lines: readonly LogLine[]): Promise<ApprovedOrder> {
  const check = new OrderCheck()
  for (const [at, line] of lines.entries()) {
    if (line.sequence <= (lines[at - 1]?.sequence ?? 0)) throw new Error('its lines are out of order')
    const fault = await check.see(line)
    if (fault !== undefined) throw new Error(`line ${line.sequence} does not fit: ${fault}`)
  }
  const kindsOf = (...kinds: string[]): Line[] =>
    lines.filter(({ kind, subject }) => subject.kind === 'order' && kinds.includes(kind))
  const [creation] = kindsOf('created')
  const approvals = kindsOf('approval-given', 'approved')
  const last = approvals.at(-1)
  if (creation === undefined || last?.kind !== 'approved')
    throw new Error('its lines do not end with an approval')
  const documents = kindsOf('document-added')
  const signers = new Set(approvals.map(({ data }) => data.signature?.credential.id))
  const enrolments = lines.filter(
    ({ kind, subject, data }: Line) =>
      kind === 'passkey-added' && subject.kind === 'account' && signers.delete(data.passkey.id),
  )
  const used = new Set([creation, ...documents, ...approvals, ...enrolments])
  const stray = lines.find(
    (line) => !used.has(line) || (line.subject.kind === 'order' && line.subject.id !== creation.subject.id),
  )
  if (stray !== undefined) throw new Error(`line ${stray.sequence} is not about this approval`)
  const { number, total, rules } = creation.data
  if (!Number.isSafeInteger(number)) throw new Error('the order has no number')
  return {
    ...{ id: creation.subject.id, number, total, rules },
    customer: valueIn(last, 'customer') ?? valueIn(creation, 'customer'),
    created: actIn(creation),
    documents: documents.map(documentIn),
    approvals: approvals.map((line) => ({
      ...actIn(line),
      role: line.data.role ?? null,
      signature: line.data.signature ? signatureIn(line.data.signature, check, enrolments) : null,
    })),
    sequence: last.sequence,
  }
}

function signatureIn(signature: KeptSignature, check: OrderCheck, enrolments: readonly LogLine[]) {
  const { iss: issuer } = JSON.parse(signature.statement)
  const passkey = check.enrolmentOf(signature)
  const line = enrolments.find(({ sequence }) => sequence === passkey?.sequence)
  if (passkey === undefined || line === undefined) throw new Error('the line of a passkey is missing')
  const [name, passwordSetBy] = [valueIn(line, 'passkeyName'), valueIn(line, 'passwordSetBy')]
  return { issuer, passkey: { ...passkey, name, passwordSetBy } }
}

export function documentIn(line: Line): OrderDocument {
  const { mediaType, size, sha256 } = line.data.document
  return { ...actIn(line), name: valueIn(line, 'documentName'), mediaType, size, sha256 }
}

export function actIn(line: Line): Act {
  const { by, for: absent } = namesIn(line)
  const { sequence, atUtc, byId, forId, data } = line
  const person = (id: number | null, name: string, as: 'by' | 'for') => ({
    ...{ id, name, isShown: valueIn(line, as) !== null },
    fullName: valueIn(line, `${as}Name`),
  })
  return {
    ...{ sequence, atUtc },
    by: person(byId, by, 'by'),
    for: absent === null ? null : person(forId, absent, 'for'),
    isProgram: data.program !== undefined,
  }
}
