import { bytesOf, sha256, toBase64url } from '../proof/bytes.ts'
import type { VerifierKey } from '../proof/note.ts'
import { verifyLineProof } from '../proof/proof.ts'
import { type ReadReceipt, readReceipt, type Statement, verifyReceipt } from '../proof/receipt.ts'
import { isolated } from '../rules/isolate.ts'
import { isOfLog, worthOfVouched } from './checkpoint.ts'
import { allOf, type Finding, nothingSaid, type Worth } from './finding.ts'
import { formatCount, formatDate, formatExactInstant, formatTotal, inSeries } from './format.ts'
import type { Key, KindOf } from './given.ts'
import { type CheckedLog, worthInLogs } from './log.ts'

type Approval = Statement['approvals'][number]

interface Around {
  keySets: readonly KindOf<'keys'>[]
  /** Those of logs and of witnesses. */
  keys: readonly VerifierKey[]
  logs: readonly CheckedLog[]
  /** Where this page comes from, unless that is a disk. */
  origin: string | undefined
}

/**
 * Checks a receipt with the keys that have the name which it gives, and looks it up in each log. Throws an
 * Error if it does not say what a receipt says.
 */
export async function checkReceipt(
  { name, jws }: KindOf<'receipt'>,
  { keySets, keys, logs, origin }: Around,
): Promise<{ finding: Finding }> {
  const { keyId, statement, service, words } = saidBy(jws)
  const finding: Finding = { ...nothingSaid, title: name }
  if (keySets.length === 0) {
    const keysNeeded = `None of this is proven yet. Add the keys of ${service}: they show whether it was signed there.`
    return { finding: { ...finding, missing: [...words, keysNeeded] } }
  }
  const faults: string[] = []
  for (const { name: file, key } of namedKeys(keySets, keyId)) {
    const fault = await faultOf(jws, key, statement.iss)
    if (fault === undefined) {
      const signed = `The key ${await fingerprintOf(key)} in ${isolated(file)} signed this receipt of ${service}. Nobody has changed it since.`
      const title = `Receipt of order #${statement.order.number} from ${service}`
      const proven = { ...nothingSaid, proven: [signed, ...words] }
      const beyond = { ...nothingSaid, beyond: limitsOf(statement, { file, service, origin }) }
      const placed = await worthOfPlace(statement, keys)
      const logged = worthInLogs(statement.line, 'this approval', logs)
      return { finding: { title, ...allOf([proven, placed, logged, beyond]) } }
    }
    faults.push(`The key ${isolated(keyId)} in ${isolated(file)} does not confirm it: ${fault}.`)
  }
  return { finding: { ...finding, wrong: faults.length > 0 ? faults : [otherKeys(keyId, service)] } }
}

const otherKeys = (keyId: string, service: string) =>
  `The receipt names the key ${isolated(keyId)}, and you added other keys. Either they are not those of ${service}, or that key was replaced: then add the keys of that time.`

const namedKeys = (keySets: readonly KindOf<'keys'>[], keyId: string) =>
  keySets.flatMap(({ name, keys }) => keys.filter(({ kid }) => kid === keyId).map((key) => ({ name, key })))

async function faultOf(jws: string, key: Key, issuer: string): Promise<string | undefined> {
  try {
    await verifyReceipt(jws, { keys: [key] }, issuer)
    return undefined
  } catch (fault) {
    // Web Crypto has no words for a key that it cannot read.
    if (fault instanceof DOMException || fault instanceof TypeError) return 'the key cannot be used'
    const { message, cause } = fault as Error
    return cause instanceof Error ? `${message}: ${cause.message}` : message
  }
}

/** The name of a key that follows from its content alone (RFC 7638); a file can give it any other. */
async function fingerprintOf({ e, kty, n }: Key): Promise<string> {
  return toBase64url(await sha256(bytesOf(JSON.stringify({ e, kty, n }))))
}

/**
 * The content of the receipt in sentences, and the address of the service that it names, in plain letters.
 */
function saidBy(jws: string): ReadReceipt & { service: string; words: string[] } {
  const read = readReceipt(jws)
  const { iss, approvals } = read.statement
  if (approvals.length === 0) throw new Error('a receipt has an approval')
  const words = [orderOf(read.statement), ...approvals.map(approvalOf)]
  return { ...read, service: new URL(iss).origin, words }
}

function orderOf({ order }: Statement): string {
  const { customer, createdBy, createdAtUtc, number, total } = order
  const creator = createdBy === null ? '' : ` by ${isolated(createdBy)}`
  return `It says: order #${number} for ${isolated(customer)} has a total of ${formatTotal(total)}. It was created${creator} on ${formatExactInstant(createdAtUtc)}.`
}

function approvalOf({ by, for: absent, atUtc, signature }: Approval): string {
  const person = isolated(by)
  const instead = absent === null ? '' : ` in the place of ${isolated(absent)}`
  const approved = `${person} approved it${instead} on ${formatExactInstant(atUtc)}.`
  if (signature === null) return approved
  const { name, addedAtUtc, restedOn } = signature.passkey
  const added = `added on ${formatDate(addedAtUtc)} by someone who had given ${restOf(restedOn)}`
  return `${approved} The passkey “${isolated(name)}” signed exactly this approval; it was ${added}.`
}

function restOf(rested: NonNullable<Approval['signature']>['passkey']['restedOn']): string {
  if ('passkey' in rested) return 'another passkey'
  return rested.passwordSetBy === null
    ? 'the password of the account'
    : `a password that ${isolated(rested.passwordSetBy)} had set`
}

function limitsOf(
  { approvals }: Statement,
  { file, service, origin }: { file: string; service: string; origin: string | undefined },
): string[] {
  const peopleWho = (isSigned: boolean) =>
    inSeries(
      approvals.filter(({ signature }) => (signature !== null) === isSigned).map(({ by }) => isolated(by)),
    )
  const [signers, others] = [peopleWho(true), peopleWho(false)]
  return [
    `That the keys belong to ${service}. Only you know where ${isolated(file)} is from: save it yourself from ${service}/.well-known/jwks.json.`,
    ...(origin === undefined || origin === service
      ? []
      : [`That ${origin}, where this page is from, has anything to do with it.`]),
    ...(signers ? [`That the passkey belongs to ${signers}. ${service} says so.`] : []),
    ...(others ? [`That ${others} approved it in person. ${service} says so; no passkey signed it.`] : []),
  ]
}

/** What the proof in the receipt is worth: the line is in a log that a key, and witnesses, vouch for. */
async function worthOfPlace(statement: Statement, keys: readonly VerifierKey[]): Promise<Worth> {
  const place = `line ${formatCount(statement.line.sequence)}`
  const checked = await verifyLineProof(statement, keys).catch((fault: Error) => fault)
  if (checked instanceof Error) return { ...nothingSaid, wrong: [`Its proof fails: ${checked.message}.`] }
  const { origin, size } = checked
  const log = `the log ${isolated(origin)}`
  if (!keys.some((key) => isOfLog(key) && key.name === origin)) {
    const unproven = `That ${place} of ${log} has this approval: add the key of the log for that.`
    return { ...nothingSaid, beyond: [unproven] }
  }
  const words = `This approval is ${place} of ${log}, which had ${formatCount(size)} lines.`
  return worthOfVouched(checked, keys, words)
}
