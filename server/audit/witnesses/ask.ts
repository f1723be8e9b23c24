import { type AddCheckpoint, readSize, spellRequest } from '../../../proof/add-checkpoint.ts'
import { readNote, type Signature, type VerifierKey, verifyCosignature } from '../../../proof/note.ts'
import { type Clock, clockDifferenceMilliseconds } from '../../clock.ts'

export interface Witness {
  key: VerifierKey
  /** The address before `/add-checkpoint`. */
  url: string
}

/** The answer of a witness to `add-checkpoint` (c2sp.org/tlog-witness). */
export type Answer =
  | { kind: 'cosigned'; signature: Signature }
  /** It cosigned last a checkpoint of this size, not of the size in the request. */
  | { kind: 'conflict'; size: number }
  /** It cosigned a checkpoint of the size in the request that does not lead to this one. */
  | { kind: 'contradiction' }

const answerLimitBytes = 16 * 1024

interface AskOptions {
  clock: Clock
  signal: AbortSignal
}

/** Throws an Error that says what is wrong with the answer, or with the way to the witness. */
export async function ask(
  { key, url }: Witness,
  request: AddCheckpoint,
  { clock, signal }: AskOptions,
): Promise<Answer> {
  const body = spellRequest(request)
  const answer = await post(`${url}/add-checkpoint`, body, signal)
  const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(answer.body)
  if (answer.status === 409) return { kind: 'conflict', size: readSize(text) }
  if (answer.status === 422) return { kind: 'contradiction' }
  if (answer.status !== 200) throw new Error(`it answered ${answer.status}: ${text.slice(0, 200).trim()}`)
  return { kind: 'cosigned', signature: await cosignatureIn(text, request.note.text, key, clock) }
}

/** Cosignatures by other keys are ignored, as tlog-witness asks. */
async function cosignatureIn(
  lines: string,
  text: string,
  key: VerifierKey,
  clock: Clock,
): Promise<Signature> {
  const note = readNote(`${text}\n${lines}`)
  const seconds = await verifyCosignature(note, key)
  const signature = note.signatures.find(({ name, id }) => name === key.name && id === key.id)
  if (seconds === undefined || signature === undefined) throw new Error('it did not cosign the checkpoint')
  if (seconds * 1000 - clock() > clockDifferenceMilliseconds)
    throw new Error('its cosignature is from the future')
  return signature
}

/** A redirect is an answer like others. Throws an Error if there is none. */
async function post(
  url: string,
  body: string,
  signal: AbortSignal,
): Promise<{ status: number; body: Buffer }> {
  const response = await fetch(url, { method: 'POST', redirect: 'manual', body, signal })
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of response.body ?? []) {
    length += chunk.length
    if (length > answerLimitBytes) throw new Error(`its answer has more than ${answerLimitBytes} bytes`)
    chunks.push(chunk)
  }
  return { status: response.status, body: Buffer.concat(chunks) }
}

/** Why a witness did not answer. If a fetch failed, the cause says more. */
export function reasonOf(error: unknown): string {
  const { name, message, cause } = error as Error & { cause?: NodeJS.ErrnoException }
  if (name === 'TimeoutError') return 'it did not answer in time'
  return cause?.code ?? cause?.message ?? message
}
