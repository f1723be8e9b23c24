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

/** What a person added: something to check, or the keys to check it with. */
export type Given = { name: string } & (
  | { kind: 'receipt'; jws: string }
  | { kind: 'keys'; keys: SigningKeys['keys'] }
  | { kind: 'log'; lines: Blob }
  | { kind: 'proof'; proof: Proof }
  | { kind: 'checkpoint'; note: Note }
  /** `from`: the person says that they have it from there, or this page is of that service. */
  | { kind: 'logKey' | 'witnessKey'; key: VerifierKey; from: 'unknown' | 'person' | 'service' }
  /** `sha256` is absent for a broken proof, checkpoint or key, and null for a file larger than a document. */
  | { kind: 'unknown'; reason: string; sha256?: string | null }
)
export type KindOf<Kind extends Given['kind']> = Extract<Given, { kind: Kind }>

/** Far more than anything else than a log and a document has. */
const limitBytes = 1_048_576
/** That of a document. Larger files are not read. */
const documentLimitBytes = 5 * limitBytes
const startOfLog = '{"sequence":'

/** Recognises a file or a text by its content, never by its name. A file of several keys is several. */
export async function recognise(name: string, content: Blob): Promise<Given[]> {
  const unknown = async (reason: string): Promise<Given[]> => {
    if (content.size > documentLimitBytes) return [{ name, kind: 'unknown', reason, sha256: null }]
    const hash = await crypto.subtle.digest('SHA-256', await content.arrayBuffer())
    return [{ name, kind: 'unknown', reason, sha256: toHex(new Uint8Array(hash)) }]
  }
  let text: string
  try {
    if ((await content.slice(0, startOfLog.length).text()) === startOfLog) {
      return [{ name, kind: 'log', lines: content }]
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
      (await fromLines(name, text)) ??
      (await fromJson(name, text)) ??
      (await unknown('this page does not recognise it'))
    )
  } catch (error) {
    return [{ name, kind: 'unknown', reason: (error as Error).message }]
  }
}

/** Throws an Error for what looks like a proof, a checkpoint or a key of a log, and is none. */
async function fromLines(name: string, text: string): Promise<Given[] | undefined> {
  const jws = receiptIn(text)
  if (jws !== undefined) return [{ name, kind: 'receipt', jws }]
  // A pasted text may have lost the line feed at its end.
  const note = `${text}\n`
  if (text.startsWith(startOfProof)) return [{ name, kind: 'proof', proof: readProof(note) }]
  if (text.includes('\n— ')) return [{ name, kind: 'checkpoint', note: readNote(note) }]
  const lines = text.split('\n')
  if (!lines.every((line) => /^[^\s+{]+\+[0-9a-f]{8}\+\S+$/.test(line))) return undefined
  return verifierKeys(name, lines)
}

async function verifierKeys(name: string, spelled: readonly string[]): Promise<Given[]> {
  const keys = await Promise.all(spelled.map(readVerifierKey))
  return keys.map((key) => ({
    name,
    kind: key.type === 'ed25519' ? 'logKey' : 'witnessKey',
    key,
    from: 'unknown',
  }))
}

/** An answer of the service, or a line of what it logs. */
async function fromJson(name: string, text: string): Promise<Given[] | undefined> {
  const { keys, checkpoint } = membersOf(text)
  if (Array.isArray(keys)) return fromKeys(name, keys.filter(isObject))
  if (typeof checkpoint === 'string') return [{ name, kind: 'checkpoint', note: readNote(checkpoint) }]
  return undefined
}

/** The keys of the service, or those of its log. */
function fromKeys(name: string, keys: Record<string, unknown>[]): Promise<Given[]> | Given[] {
  const spelled = keys.map(({ verifierKey }) => verifierKey).filter((key) => typeof key === 'string')
  return spelled.length > 0
    ? verifierKeys(name, spelled)
    : [{ name, kind: 'keys', keys: keys as unknown as SigningKeys['keys'] }]
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
