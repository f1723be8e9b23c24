import { createHash } from 'node:crypto'
import { type Bytes, toBase64 } from '../../proof/bytes.ts'
import { canonicalJson } from '../../proof/canonical.ts'
import { challengeOf } from '../../proof/decision.ts'
import { hashesOf, type LogLine, type Salted } from '../../proof/line.ts'
import type { OrderRules } from '../../proof/order.ts'
import type { Receipt } from '../../proof/receipt.ts'
import { pathOf } from '../../proof/tree.ts'
import { checkpointBy, type Signer } from '../../witness/test/signed-log.ts'
import { Passkey } from './authenticator.ts'
import { headOf, type LogContent, makeLog, plainEvent, saltedTexts } from './log.ts'
import { publicUrl } from './service.ts'

export const origin = 'orders.example.com/log'

export interface Approver {
  by: string
  byId: number
  for?: { name: string; id: number }
  role?: string
  isProgram?: boolean
  signs?: boolean
}

interface Wanted {
  rules?: Partial<OrderRules>
  approvers?: Approver[]
  /** The owner of the client that created it. */
  ownerId?: number | null
  /** SHA-256 of each. */
  documents?: string[]
}

const subject = plainEvent.subject
const laxRules: OrderRules = { approvals: 1, selfApproval: true, services: true, role: null, passkey: false }
const customer = 'Müller & Söhne'
const total = '1250.5'
let passkeys = 0

/** The content of the lines of an order that jo created, and of the passkeys that sign it, in their order. */
export async function approvedOrder(wanted: Wanted = {}): Promise<LogContent[]> {
  const { approvers = [{ by: 'kim', byId: 4 }], documents = [], ownerId = null } = wanted
  const rules = { ...laxRules, approvals: approvers.length, ...wanted.rules }
  const keys = new Map(approvers.filter(({ signs }) => signs).map(({ byId }) => [byId, new Passkey()]))
  const enrolments = [...keys].map(([byId, passkey]): LogContent => {
    passkeys += 1
    const { id, jwk: publicKey } = passkey
    const added = { id, publicKey, aaguid: '', synced: true, backedUp: true, restedOn: { password: 'own' } }
    const clear = saltedTexts({ by: `user ${byId}`, name: `user ${byId}`, passkeyName: 'Phone' })
    const account = { kind: 'account', id: String(byId) }
    const line = { ...plainEvent, kind: 'passkey-added', subject: account, version: null, byId, clear }
    return { ...line, id: `passkey-${passkeys}`, data: { passkey: added } }
  })
  const created: LogContent = {
    ...plainEvent,
    ...{ kind: 'created', clear: saltedTexts({ by: 'jo', customer }) },
    data: { total, number: 1042, rules, ownerId },
  }
  const added = documents.map(
    (sha256, at): LogContent => ({
      ...plainEvent,
      ...{ kind: 'document-added', version: 2 + at },
      data: { total, document: { id: `document-${at}`, mediaType: 'application/pdf', size: 7, sha256 } },
      clear: saltedTexts({ by: 'jo', customer, documentName: `offer ${at}.pdf` }),
    }),
  )
  const first = 2 + documents.length
  const given = approvers.map(async (approver, at): Promise<LogContent> => {
    const { by, byId, for: absent, role, isProgram } = approver
    const clear = saltedTexts({ by, customer, ...(absent && { for: absent.name }) })
    const data = { total, ...(documents.length > 0 && { documents: documents.toSorted() }) }
    const line: LogContent = {
      ...plainEvent,
      kind: at === approvers.length - 1 ? 'approved' : 'approval-given',
      ...{ version: first + at, byId, forId: absent?.id ?? null, clear },
      data: { ...data, ...(role && { role }), ...(isProgram && { program: true }) },
    }
    const passkey = keys.get(byId)
    return passkey === undefined ? line : signed(line, passkey)
  })
  return [...enrolments, created, ...added, ...(await Promise.all(given))]
}

/** The line with the signature of the passkey over exactly what it says. */
export async function signed(line: LogContent, passkey: Passkey): Promise<LogContent> {
  const { byId, forId, data, version } = line
  const statement = canonicalJson({
    ...{ typ: 'countersign-decision', iss: publicUrl, action: 'approve', byId, forId },
    order: { id: line.subject.id, version: Number(version) - 1, total: data.total },
    documents: data.documents ?? [],
    hashes: hashesOf(line.clear as Record<string, Salted>),
    ...{ nonce: 'nonce', until: '2026-11-22T12:05:00.000Z' },
  })
  const challenge = await challengeOf([statement])
  const { id, response } = passkey.get({ challenge, rpId: new URL(publicUrl).hostname })
  const { userHandle: _, ...kept } = response
  const signature = { statement, index: 0, size: 1, path: [], credential: { id, response: kept } }
  return { ...line, data: { ...data, signature } }
}

const node = (left: Bytes, right: Bytes): Bytes =>
  Uint8Array.from(createHash('sha256').update(Uint8Array.of(1)).update(left).update(right).digest())

const isShown = ({ kind, subject: { id } }: LogLine) => id === subject.id || kind === 'passkey-added'

/** The receipt of the order, from a log with its lines. */
export function receiptOver(
  lines: readonly LogLine[],
  signers: readonly Signer[],
  shown: (line: LogLine) => boolean = isShown,
): Receipt {
  const leaves = lines.map(({ hash }) => Uint8Array.from(Buffer.from(hash, 'hex')))
  const placed = lines.filter(shown).map((line) => ({
    line,
    proof: pathOf(leaves, lines.indexOf(line), node).map(toBase64),
  }))
  const checkpoint = checkpointBy(signers, origin, headOf([...lines]))
  return { iss: publicUrl, iat: 1_795_000_000, lines: placed, checkpoint }
}

/** A log with some other lines around those of the order. */
export const logAround = (contents: readonly LogContent[]) =>
  makeLog([...others(5), ...contents, ...others(6)])

const others = (count: number) =>
  Array.from({ length: count }, (_, at): LogContent => {
    return { ...plainEvent, id: `other-${at}`, kind: 'noted', subject: { kind: 'order', id: `other-${at}` } }
  })

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** As a JWS that nobody has signed. */
export const spellReceipt = (receipt: object) =>
  `${part({ typ: 'countersign-receipt+jwt', alg: 'RS256', kid: 'nobody' })}.${part(receipt)}.AAAA`
