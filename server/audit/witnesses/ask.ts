import { type AddCheckpoint, readSize, spellRequest } from '../../../proof/add-checkpoint.ts'
import { readNote, type Signature, type VerifierKey, verifyCosignature } from '../../../proof/note.ts'
import { type Clock, clockDifferenceMilliseconds } from '../../clock.ts'
import { exchange } from '../../exchange.ts'
import type { Resolve } from '../../names.ts'

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
  resolve: Resolve
  signal: AbortSignal
}

/** Throws an Error that says what is wrong with the answer, or with the way to the witness. */
export async function ask(
  { key, url }: Witness,
  request: AddCheckpoint,
  { clock, ...options }: AskOptions,
): Promise<Answer> {
  const answer = await post(new URL(`${url}/add-checkpoint`), { body: spellRequest(request), ...options })
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
  url: URL,
  asked: Parameters<typeof exchange>[1],
): Promise<{ status: number; body: Buffer }> {
  const response = await exchange(url, asked)
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of response) {
    length += chunk.length
    if (length > answerLimitBytes) throw new Error(`its answer has more than ${answerLimitBytes} bytes`)
    chunks.push(chunk)
  }
  return { status: response.statusCode ?? 0, body: Buffer.concat(chunks) }
}
