import { toHex } from '../proof/bytes.ts'
import {
  type Note,
  type Proof,
  readNote,
  readProof,
  readVerifierKey,
  startOfProof,
  type VerifierKey,
} from '../proof/note.ts'
import { receiptIn, type SigningKeys } from '../proof/receipt.ts'

/** The kind of a file or a text, by its content alone. */
type Recognised =
  | { kind: 'receipt'; jws: string }
  | { kind: 'keys'; keys: SigningKeys['keys'] }
  | { kind: 'log'; lines: Blob }
  | { kind: 'proof'; proof: Proof }
  | { kind: 'checkpoint'; note: Note }
  /** `from`: the person says that they have it from there, or this page is of that service. */
  | { kind: 'logKey' | 'witnessKey'; key: VerifierKey; from: 'unknown' | 'person' | 'service' }
  /** `isBroken`: it looks like a proof, a checkpoint or a key. */
  | { kind: 'unknown'; reason: string; isBroken?: true }

/**
 * What a person added: something to check, or the keys to check it with. A file larger than a document has
 * no `sha256`.
 */
export type Given = { name: string; sha256?: string | undefined } & Recognised
export type KindOf<Kind extends Given['kind']> = Extract<Given, { kind: Kind }>

/** Far more than anything else than a log and a document has. */
const limitBytes = 1_048_576
/** That of a document. */
const documentLimitBytes = 5 * limitBytes
const startOfLog = '{"sequence":'

/** Recognises a file or a text by its content, never by its name. A file of several keys is several. */
export async function recognise(name: string, content: Blob): Promise<Given[]> {
  const sha256 = content.size > documentLimitBytes ? undefined : await digestOf(content)
  return (await kindsOf(content)).map((kind) => ({ name, sha256, ...kind }))
}

async function digestOf(content: Blob): Promise<string> {
  return toHex(new Uint8Array(await crypto.subtle.digest('SHA-256', await content.arrayBuffer())))
}

const unknown = (reason: string): Recognised[] => [{ kind: 'unknown', reason }]

async function kindsOf(content: Blob): Promise<Recognised[]> {
  let text: string
  try {
    if ((await content.slice(0, startOfLog.length).text()) === startOfLog) {
      return [{ kind: 'log', lines: content }]
    }
    if (content.size > limitBytes) return unknown('it is larger than any receipt, key or checkpoint')
    text = new TextDecoder('utf-8', { fatal: true })
      .decode(await content.arrayBuffer())
      .replaceAll('\r\n', '\n')
      .trim()
  } catch {
    return unknown('it is not a file with text')
  }
  try {
    return (
      (await fromLines(text)) ?? (await fromJson(text)) ?? unknown('it is no receipt, log, checkpoint or key')
    )
  } catch (error) {
    return [{ kind: 'unknown', reason: (error as Error).message, isBroken: true }]
  }
}

/** Throws an Error for what looks like a proof, a checkpoint or a key of a log, and is none. */
async function fromLines(text: string): Promise<Recognised[] | undefined> {
  const jws = receiptIn(text)
  if (jws !== undefined) return [{ kind: 'receipt', jws }]
  // A pasted text may have lost the line feed at its end.
  const note = `${text}\n`
  if (text.startsWith(startOfProof)) return [{ kind: 'proof', proof: readProof(note) }]
  if (text.includes('\n— ')) return [{ kind: 'checkpoint', note: readNote(note) }]
  const lines = text.split('\n')
  if (!lines.every((line) => /^[^\s+{]+\+[0-9a-f]{8}\+\S+$/.test(line))) return undefined
  return verifierKeys(lines)
}

async function verifierKeys(spelled: readonly string[]): Promise<Recognised[]> {
  const keys = await Promise.all(spelled.map(readVerifierKey))
  return keys.map((key) => ({
    kind: key.type === 'ed25519' ? 'logKey' : 'witnessKey',
    key,
    from: 'unknown',
  }))
}

/** An answer of the service, or a line of what it logs. */
async function fromJson(text: string): Promise<Recognised[] | undefined> {
  const { keys, checkpoint } = membersOf(text)
  if (Array.isArray(keys)) return fromKeys(keys.filter(isObject))
  if (typeof checkpoint === 'string') return [{ kind: 'checkpoint', note: readNote(checkpoint) }]
  return undefined
}

/** The keys of the service, or those of its log. */
function fromKeys(keys: Record<string, unknown>[]): Promise<Recognised[]> | Recognised[] {
  const spelled = keys.map(({ verifierKey }) => verifierKey).filter((key) => typeof key === 'string')
  return spelled.length > 0
    ? verifierKeys(spelled)
    : [{ kind: 'keys', keys: keys as unknown as SigningKeys['keys'] }]
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function membersOf(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}
