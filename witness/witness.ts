/**
 * A witness of logs (C2SP tlog-witness): a separate program with one file and no database. It cosigns a
 * checkpoint only if the log has only grown since the last one, so nobody can be shown another log than
 * others were.
 */
import { createHash } from 'node:crypto'
import { type AddCheckpoint, readRequest, spellSize } from '../proof/add-checkpoint.ts'
import { type Bytes, bytesOf, join, sha256 } from '../proof/bytes.ts'
import {
  type Checkpoint,
  cosignature,
  cosignedMessage,
  readCheckpoint,
  readNote,
  spellNote,
  spellSignature,
  type VerifierKey,
  verifyCosignature,
  verifyNote,
} from '../proof/note.ts'
import { rootsFrom } from '../proof/tree.ts'
import type { State } from './state.ts'

export interface Witness {
  key: VerifierKey
  sign(message: Bytes): Bytes
  /** Each has the origin of its log as its name. A log may have several. */
  logs: readonly VerifierKey[]
  state: State
  /** Milliseconds since 1970. */
  clock(): number
  log: Events
}

/** The witness's log. */
export interface Events {
  info(members: Line, message: string): void
  warn(members: Line, message: string): void
}

interface Line {
  event: string
  origin: string
  [more: string]: unknown
}

const minute = 60_000

/** Passes on at most one line a minute of each event of each log, with the number of those left out. */
export function sparing(log: Events, clock: () => number): Events {
  const seen = new Map<string, { at: number; leftOut: number }>()
  const pass = (level: keyof Events) => (members: Line, message: string) => {
    const key = `${members.event} ${members.origin}`
    const { at, leftOut } = seen.get(key) ?? { at: Number.NEGATIVE_INFINITY, leftOut: 0 }
    if (clock() - at < minute) return void seen.set(key, { at, leftOut: leftOut + 1 })
    seen.set(key, { at: clock(), leftOut: 0 })
    log[level](leftOut === 0 ? members : { ...members, leftOut }, message)
  }
  return { info: pass('info'), warn: pass('warn') }
}

export interface Answer {
  status: 200 | 400 | 403 | 404 | 409 | 422
  /** Without it, plain text. */
  type?: 'text/x.tlog.size'
  body: string
}

interface Submission extends AddCheckpoint {
  checkpoint: Checkpoint
}

/**
 * Answers `add-checkpoint`. Throws if the checkpoint cannot be kept; nobody gets its cosignature then.
 */
export async function addCheckpoint(witness: Witness, body: string): Promise<Answer> {
  let submission: Submission
  try {
    const request = readRequest(body)
    submission = { ...request, checkpoint: readCheckpoint(request.note.text) }
  } catch (error) {
    return refused(400, (error as Error).message)
  }
  const { from, note, checkpoint } = submission
  const keys = witness.logs.filter(({ name }) => name === checkpoint.origin)
  if (keys.length === 0) return refused(404, 'this witness does not know the log')
  if (!(await verifyNote(note, keys))) return refused(403, 'the log did not sign the checkpoint')
  if (from > checkpoint.size) return refused(400, 'the old size must not be above the size')
  // Of two requests at once, the second is compared with what the first left behind.
  return witness.state.inTurn(() => decide(witness, submission))
}

async function decide(witness: Witness, { from, path, note, checkpoint }: Submission): Promise<Answer> {
  const { state, log, logs } = witness
  const { origin, size } = checkpoint
  const last = lastOf(state, origin)
  const conflict: Answer = { status: 409, type: 'text/x.tlog.size', body: spellSize(last.size) }
  if (from !== last.size) return conflict
  const fault = await faultOf(last, path, checkpoint)
  if (fault !== undefined) {
    log.warn({ event: 'checkpoint-refused', origin, from, size, note: shortened(spellNote(note)) }, fault)
    return fault === twoRoots ? conflict : refused(422, fault)
  }
  const signature = cosign(witness, note.text)
  if (await isKept(witness, checkpoint)) return { status: 200, body: spellSignature(signature) }
  const signatures = note.signatures.filter(({ name, id }) =>
    logs.some((key) => key.name === name && key.id === id),
  )
  await state.keep(origin, spellNote({ text: note.text, signatures: [...signatures, signature] }))
  log.info({ event: 'checkpoint-cosigned', origin, from, size }, 'cosigned a checkpoint')
  return { status: 200, body: spellSignature(signature) }
}

/** The rest of a long one would fill the disk, and its log would know how to make it long. */
const shortened = (note: string) => (note.length > noteLimit ? `${note.slice(0, noteLimit)}…` : note)
const noteLimit = 16 * 1024

/** Whether the state has a cosignature of the checkpoint that is less than a minute old. */
async function isKept({ state, key, clock }: Witness, { origin, size }: Checkpoint): Promise<boolean> {
  const kept = state.checkpointOf(origin)
  if (kept === undefined || readCheckpoint(readNote(kept).text).size !== size) return false
  const seconds = await verifyCosignature(readNote(kept), key)
  return seconds !== undefined && clock() - seconds * 1000 < minute
}

function lastOf(state: State, origin: string): Pick<Checkpoint, 'size' | 'root'> {
  const note = state.checkpointOf(origin)
  return note === undefined ? { size: 0, root: emptyRoot } : readCheckpoint(readNote(note).text)
}

/** The root of no leaf is the hash of nothing (RFC 9162 §2.1.1). */
const emptyRoot = await sha256(bytesOf(''))

const twoRoots = 'the log signed two roots of one size'

/** Why the checkpoint does not follow from the last one; undefined if it does. */
async function faultOf(
  last: Pick<Checkpoint, 'size' | 'root'>,
  path: Bytes[],
  { size, root }: Checkpoint,
): Promise<string | undefined> {
  if (size === 0 && !equal(root, emptyRoot)) return 'the root of an empty log must be the hash of nothing'
  if (last.size === 0) return path.length === 0 ? undefined : 'the proof must be empty: the old size is 0'
  const hashes = path.map((hash) => Promise.resolve(hash))
  const roots = rootsFrom(Promise.resolve(last.root), { from: last.size, size, path: hashes }, join)
  if (roots === undefined) return 'the proof does not have the length that the sizes need'
  const [old, grown] = await Promise.all([roots.from, roots.size])
  if (equal(old, last.root) && equal(grown, root)) return undefined
  return size === last.size ? twoRoots : 'the proof does not show that the log only grew'
}

function cosign({ key, sign, clock }: Witness, text: string) {
  const seconds = Math.floor(clock() / 1000)
  return {
    name: key.name,
    id: key.id,
    signature: cosignature(seconds, sign(cosignedMessage(key, text, seconds))),
  }
}

/** The newest checkpoint of the log whose origin has this hash (tlog-witness, "Monitor Retrieval"). */
export function checkpointBy({ state }: Witness, originHash: string): string | undefined {
  const origin = state.origins.find((known) => sha256Hex(known) === originHash)
  return origin === undefined ? undefined : state.checkpointOf(origin)
}

const sha256Hex = (text: string) => createHash('sha256').update(text).digest('hex')

const refused = (status: Answer['status'], reason: string): Answer => ({ status, body: `${reason}\n` })

const equal = (some: Bytes, other: Bytes) => Buffer.compare(some, other) === 0
