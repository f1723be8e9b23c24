import { type Bytes, bytesOf, concat, fromBase64, fromHex, sha256, toBase64, toHex } from './bytes.ts'

/**
 * Signed notes, and the checkpoints of a log as such notes: texts that other people's software reads too.
 * signed-note, tlog-checkpoint, tlog-cosignature and tlog-proof of c2sp.org say what they look like. Each has
 * one spelling: what can be read here is spelled with the same characters again. Whatever reads a text throws
 * an Error that names the part and its rule.
 */

/**
 * The signature types of signed-note that are used here: the byte that names each, its algorithm in Web
 * Crypto, and how many bytes its keys and signatures have.
 */
const types = {
  ed25519: { byte: 0x01, algorithm: 'Ed25519', keyBytes: 32, signatureBytes: 64 },
  'cosignature/v1': { byte: 0x04, algorithm: 'Ed25519', keyBytes: 32, signatureBytes: 64 },
  'subtree/v1': { byte: 0x06, algorithm: 'ML-DSA-44', keyBytes: 1312, signatureBytes: 2420 },
} as const

/** A public key by which others check signatures: a log's (`ed25519`), or a witness's. */
export interface VerifierKey {
  name: string
  /** Four bytes in hex. */
  id: string
  type: keyof typeof types
  publicKey: Bytes
}

export const isOfLog = ({ type }: VerifierKey) => type === 'ed25519'

/** A verifier key of a type that is not used here. Software that is newer may know it. */
export class UnknownKeyType extends Error {}

export interface Note {
  /** The signed text, with its last line feed. */
  text: string
  signatures: Signature[]
}

export interface Signature {
  /** Those of the key. */
  name: string
  id: string
  signature: Bytes
}

export interface Checkpoint {
  /** The name of the log. */
  origin: string
  size: number
  root: Bytes
}

/** What a `.tlog-proof` holds: the path from an entry to the root of a checkpoint. */
export interface Proof {
  /** Nothing vouches for it. */
  extra: Bytes | undefined
  index: number
  path: Bytes[]
  /** The text of a note. */
  checkpoint: string
}

/** Readers take 16 signatures at least (signed-note, "Format"). Those of other types can have 5 kB each. */
const mostSignatures = 64
const mostCharacters = 2 ** 18
/** No tree of less than 2^53 leaves has a longer path. */
const mostHashes = 53

/** A key and its id: SHA-256 of name, line feed, type and key (signed-note, "Signatures"). */
export async function verifierKey(
  name: string,
  type: VerifierKey['type'],
  publicKey: Bytes,
): Promise<VerifierKey> {
  checkName(name)
  const { byte, keyBytes } = types[type]
  if (publicKey.length !== keyBytes) throw new Error(`the public key must have ${keyBytes} bytes`)
  if (type === 'subtree/v1') opaque('the name of the key', name)
  const hash = await sha256(concat(bytesOf(`${name}\n`), Uint8Array.of(byte), publicKey))
  return { name, id: toHex(hash.subarray(0, 4)), type, publicKey }
}

export const spellVerifierKey = ({ name, id, type, publicKey }: VerifierKey) =>
  `${name}+${id}+${toBase64(concat(Uint8Array.of(types[type].byte), publicKey))}`

export async function readVerifierKey(text: string): Promise<VerifierKey> {
  const [, name, id, base64] = /^([^+]*)\+([^+]*)\+(.*)$/s.exec(text) ?? []
  if (name === undefined || id === undefined || base64 === undefined) {
    throw new Error('a verifier key must be spelled NAME+ID+KEY')
  }
  const content = read('the key', base64)
  const known = Object.keys(types) as (keyof typeof types)[]
  const type = known.find((each) => types[each].byte === content[0])
  if (type === undefined) {
    const all = 'of type 1 (Ed25519), 4 (cosignature/v1) or 6 (ML-DSA-44)'
    throw new UnknownKeyType(`the key must be ${all}, and is of type ${content[0]}`)
  }
  const key = await verifierKey(name, type, content.subarray(1))
  if (key.id !== id) throw new Error(`the id of the key must be ${key.id}, as its name and content say`)
  return key
}

export const spellNote = ({ text, signatures }: Note) => `${text}\n${signatures.map(spellSignature).join('')}`

/** The line that a signature is in a note. */
export const spellSignature = ({ name, id, signature }: Signature) =>
  `— ${name} ${toBase64(concat(fromHex(id), signature))}\n`

/** Checks no signature: see `verifyNote` and `verifyCosignature`. */
export function readNote(note: string): Note {
  if (note.length > mostCharacters) throw new Error(`a note must have at most ${mostCharacters} characters`)
  // UTF-8 cannot express the surrogates (Cs).
  if (/[^\n -\u{10ffff}]|\p{Cs}/u.test(note)) {
    throw new Error('a note must be well-formed Unicode without control characters')
  }
  const end = note.lastIndexOf('\n\n') + 1
  if (end === 0) throw new Error('a note must have an empty line before its signatures')
  const lines = linesOf('the signatures of a note', note.slice(end + 1))
  if (lines.length > mostSignatures) throw new Error(`a note must have at most ${mostSignatures} signatures`)
  return { text: note.slice(0, end), signatures: lines.map(readSignature) }
}

function readSignature(line: string): Signature {
  const [dash, name = '', base64, more] = line.split(' ')
  if (dash !== '—' || base64 === undefined || more !== undefined) {
    throw new Error('a signature must be spelled — NAME SIGNATURE')
  }
  checkName(name)
  const content = read('a signature', base64)
  if (content.length < 5) throw new Error('a signature must have more than the 4 bytes of its key’s id')
  return { name, id: toHex(content.subarray(0, 4)), signature: content.subarray(4) }
}

/** The text of a note. It is written without extension lines, which no monitor of a log can check. */
export const spellCheckpoint = ({ origin, size, root }: Checkpoint) =>
  `${origin}\n${size}\n${toBase64(root)}\n`

/** Reads the text of a note. Extension lines are allowed, and mean nothing (tlog-checkpoint, "Note text"). */
export function readCheckpoint(text: string): Checkpoint {
  const [origin = '', size, root, ...extension] = linesOf('a checkpoint', text)
  if (size === undefined || root === undefined) throw new Error('a checkpoint must have three lines')
  if ([origin, ...extension].includes('')) throw new Error('a line of a checkpoint must not be empty')
  return { origin, size: readNumber('the size', size), root: readHash('the root', root) }
}

/**
 * Whether one of the keys signed it, and no signature that names one of them is false (signed-note,
 * "Signatures").
 */
export async function verifyNote(note: Note, keys: readonly VerifierKey[]): Promise<boolean> {
  const logs = keys.filter(({ type }) => type === 'ed25519')
  const checked = logs.flatMap((key) =>
    signaturesBy(note, key).map(({ signature }) => isSigned(key, signature, bytesOf(note.text))),
  )
  return checked.length > 0 && (await Promise.all(checked)).every(Boolean)
}

/** When a witness cosigned it, in seconds since 1970; undefined if it did not, or a signature is false. */
export async function verifyCosignature(note: Note, key: VerifierKey): Promise<number | undefined> {
  const signatures = isOfLog(key) ? [] : signaturesBy(note, key)
  const times = await Promise.all(signatures.map((signature) => timeOf(signature, note, key)))
  return times.reduce((earliest, time) => earliest && time && Math.min(earliest, time), times[0])
}

/** Undefined for a signature that does not hold or has no time. */
async function timeOf({ signature }: Signature, { text }: Note, key: VerifierKey) {
  if (signature.length !== 8 + types[key.type].signatureBytes) return undefined
  const seconds = Number(new DataView(signature.buffer, signature.byteOffset).getBigUint64(0))
  if (seconds === 0 || !Number.isSafeInteger(seconds)) return undefined
  return (await isSigned(key, signature.subarray(8), cosignedMessage(key, text, seconds)))
    ? seconds
    : undefined
}

/**
 * The signatures of a note that name the key. An ML-DSA cosignature without a time is left out: it does not
 * say that the tree is the largest one (tlog-cosignature, "ML-DSA-44 signed message").
 */
export const signaturesBy = ({ signatures }: Note, { name, id, type }: VerifierKey) =>
  signatures.filter((one) => one.name === name && one.id === id && !(type === 'subtree/v1' && hasNoTime(one)))

const hasNoTime = ({ signature }: Signature) => signature.subarray(0, 8).every((byte) => byte === 0)

async function isSigned(key: VerifierKey, signature: Bytes, message: Bytes): Promise<boolean> {
  const { algorithm } = types[key.type]
  return crypto.subtle.verify({ name: algorithm }, await imported(key), signature, message)
}

function imported({ type, publicKey }: VerifierKey): Promise<CryptoKey> {
  const { algorithm } = types[type]
  const format = algorithm === 'Ed25519' ? 'raw' : ('raw-public' as 'raw')
  return crypto.subtle.importKey(format, publicKey, { name: algorithm }, false, ['verify'])
}

/**
 * Whether signatures of this kind can be checked here. Web Crypto has ML-DSA since Node 24.7. Those without
 * it fail in different ways, but only one that knows the kind says that a key is none.
 */
export async function canCheck(key: VerifierKey): Promise<boolean> {
  return imported(key).then(
    () => true,
    ({ name }: DOMException) => name === 'DataError',
  )
}

/**
 * The message that a witness signs for the text of a checkpoint (tlog-cosignature, "Ed25519 signed message",
 * "ML-DSA-44 signed message"). Throws an Error for a text that is not a checkpoint.
 */
export function cosignedMessage({ type, name }: VerifierKey, text: string, seconds: number): Bytes {
  if (type !== 'subtree/v1') return bytesOf(`cosignature/v1\ntime ${seconds}\n${text}`)
  const { origin, size, root } = readCheckpoint(text)
  const [by, log] = [opaque('the name of the key', name), opaque('the origin', origin)]
  return concat(bytesOf('subtree/v1\n\0'), by, uint64(seconds), log, uint64(0), uint64(size), root)
}

/** The length of a text, and the text. */
function opaque(what: string, text: string): Bytes {
  const bytes = bytesOf(text)
  if (bytes.length > 255) throw new Error(`${what} must have at most 255 bytes`)
  return concat(Uint8Array.of(bytes.length), bytes)
}

function uint64(number: number): Bytes {
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setBigUint64(0, BigInt(number))
  return bytes
}

/** Time and signature, as a note has them (tlog-cosignature, "Format"). */
export const cosignature = (seconds: number, signature: Bytes) => concat(uint64(seconds), signature)

/** The first line of every proof. */
export const startOfProof = 'c2sp.org/tlog-proof@v1'

export function spellProof({ extra, index, path, checkpoint }: Proof): string {
  const head = [startOfProof, ...(extra ? [`extra ${toBase64(extra)}`] : []), `index ${index}`]
  return `${[...head, ...path.map(toBase64), ''].join('\n')}\n${checkpoint}`
}

/** Follows no path and checks no signature. */
export function readProof(proof: string): Proof {
  if (proof.length > 2 * mostCharacters)
    throw new Error(`a proof must have at most ${2 * mostCharacters} characters`)
  const end = proof.indexOf('\n\n') + 1
  if (end === 0) throw new Error('a proof must have an empty line before its checkpoint')
  const [version, ...lines] = proof.slice(0, end - 1).split('\n')
  if (version !== startOfProof) throw new Error(`a proof must begin with ${startOfProof}`)
  const extra = lines[0]?.startsWith('extra ') ? read('extra', lines.shift()?.slice(6) ?? '') : undefined
  const [index, ...path] = lines
  if (!index?.startsWith('index ')) throw new Error('a proof must have an index')
  if (path.length > mostHashes) throw new Error(`a proof must have at most ${mostHashes} hashes`)
  return {
    extra,
    index: readNumber('the index', index.slice(6)),
    path: path.map((hash) => readHash('a hash', hash)),
    checkpoint: proof.slice(end + 1),
  }
}

/** A name has no white space, and no plus, which parts a verifier key (signed-note, "Format"). */
function checkName(name: string): void {
  if (/^(?:(?![\p{White_Space}\p{Cs}+])[!-\u{10ffff}])+$/u.test(name)) return
  throw new Error('the name of a key must not be empty, nor have white space, control characters or +')
}

function linesOf(what: string, text: string): string[] {
  if (!text.endsWith('\n')) throw new Error(`${what} must end with a line feed`)
  return text.slice(0, -1).split('\n')
}

export function readNumber(what: string, digits: string): number {
  const number = /^(?:0|[1-9]\d*)$/.test(digits) ? Number(digits) : Number.NaN
  if (Number.isSafeInteger(number)) return number
  throw new Error(`${what} must be a whole number below 2^53 without leading zeros`)
}

export function readHash(what: string, base64: string): Bytes {
  const hash = read(what, base64)
  if (hash.length !== 32) throw new Error(`${what} must have 32 bytes`)
  return hash
}

function read(what: string, base64: string): Bytes {
  try {
    if (base64 !== '') return fromBase64(base64)
  } catch {
    // It has another spelling, or none.
  }
  throw new Error(`${what} must be base64`)
}
