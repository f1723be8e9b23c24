import { canonicalJson } from './canonical.ts'
import { type KeptSignature, type PublicKey, verifyDecision } from './decision.ts'
import type { LogLine } from './line.ts'

/** A passkey between the lines of its enrolment and its removal. */
export interface LoggedPasskey {
  accountId: string
  publicKey: PublicKey
  /** The line of its enrolment. */
  sequence: number
  restedOn: unknown
}

/** How many decisions a passkey signed, and which lack a signature that the rules of their order ask for. */
export interface SignatureReport {
  signed: number
  unsigned: { events: number; first: number[] }
}

const namedUnsigned = 10

const actions: Record<string, 'approve' | 'reject'> = {
  approved: 'approve',
  'approval-given': 'approve',
  rejected: 'reject',
}
const isLast = (kind: string) => kind === 'approved' || kind === 'rejected' || kind === 'withdrawn'

type Line = Omit<LogLine, 'data'> & {
  // biome-ignore lint/suspicious/noExplicitAny: depends on the kind, and may be forged
  data: any
}

/**
 * Checks the signatures of a log, line by line: each is by a passkey that its account had at that line, over
 * exactly what the line says. Keeps the passkeys, and the ids of the orders that wait for a signature.
 */
export class SignatureCheck {
  readonly #passkeys = new Map<string, LoggedPasskey>()
  readonly #strict = new Set<string>()
  readonly report: SignatureReport = { signed: 0, unsigned: { events: 0, first: [] } }

  /** The reason why the line does not fit, if it does not. */
  async see(line: LogLine): Promise<string | undefined> {
    try {
      if (line.subject.kind === 'order') return await this.#seeOrder(line)
      if (line.subject.kind === 'account') this.#seeAccount(line)
      return undefined
    } catch {
      return 'its data is not what an event of its kind has'
    }
  }

  #seeAccount({ kind, subject, sequence, data }: Line): void {
    const { passkey, passkeys = [] } = data
    if (kind === 'passkey-added') {
      const { id, publicKey, restedOn } = passkey
      this.#passkeys.set(id, { accountId: subject.id, publicKey, sequence, restedOn })
    } else if (kind === 'passkey-removed') this.#passkeys.delete(passkey.id)
    for (const id of passkeys) this.#passkeys.delete(id)
  }

  async #seeOrder(line: Line): Promise<string | undefined> {
    const { kind, subject, sequence, data } = line
    if (kind === 'created' && data.rules.passkey) this.#strict.add(subject.id)
    const isUnsigned = actions[kind] === 'approve' && data.signature === undefined
    if (isUnsigned && this.#strict.has(subject.id)) this.#noteUnsigned(sequence)
    if (isLast(kind)) this.#strict.delete(subject.id)
    return data.signature === undefined ? undefined : this.#faultOf(line, data.signature)
  }

  #noteUnsigned(sequence: number): void {
    const { unsigned } = this.report
    unsigned.events += 1
    if (unsigned.first.length < namedUnsigned) unsigned.first.push(sequence)
  }

  async #faultOf(line: Line, signature: KeptSignature): Promise<string | undefined> {
    const passkey = this.#passkeys.get(signature?.credential?.id)
    if (passkey === undefined || passkey.accountId !== String(line.byId)) {
      return 'it is signed with a passkey that the account did not have then'
    }
    try {
      const { action, order, documents, byId, forId, hashes } = await verifyDecision(
        signature,
        passkey.publicKey,
      )
      const { total, documents: shown = [] } = line.data
      const decided = { id: line.subject.id, version: Number(line.version) - 1, total }
      const said = [action, order, documents, byId, forId, hashes]
      const done = [actions[line.kind], decided, shown, line.byId, line.forId, line.hashes]
      if (canonicalJson(said) !== canonicalJson(done)) return 'its signature is over something else'
    } catch (error) {
      return `its signature does not hold: ${(error as Error).message}`
    }
    this.report.signed += 1
    return undefined
  }
}
