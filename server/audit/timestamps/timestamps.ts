/**
 * Timestamps (RFC 3161): once a day an authority signs when it saw the last checkpoint of the day, so that
 * even the operator with all keys cannot write a history for a day that is over (ADR 55). Nothing waits for
 * it: no write, no seal, no start and no stop.
 */
import { hash } from 'node:crypto'

const hashOf = (text: string): Buffer => hash('sha256', text, 'buffer')

/** DER up to the hash: version 1, and a messageImprint by SHA-256. */
const version1AndSha256 = Buffer.from('30390201013031300d060960864801650304020105000420', 'hex')
/** TRUE: the answer has the certificate of the authority, so that it can be verified in years. */
const certReq = Buffer.from('0101ff', 'hex')

/**
 * The TimeStampReq of a text (§2.4.1). It has no nonce: the timestamp of an earlier answer to the same text
 * says the truth too.
 */
export function requestFor(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(Buffer.concat([version1AndSha256, hashOf(text), certReq]))
}

const [sequence, integer, utf8String] = [0x30, 0x02, 0x0c]
const [granted, grantedWithMods] = ['0', '1']

/**
 * Checks a TimeStampResp (§2.4.2): that the request was granted, and that the token has the hash of the text.
 * The signature is for the verifier to check, by the certificates that they trust. Throws an Error that says
 * what is wrong.
 */
export function checkAnswer(answer: Buffer, text: string): void {
  const response = readElement(sequence, answer)
  if (response.rest.length > 0) throw new Error('its answer goes on after its end')
  const statusInfo = readElement(sequence, response.content)
  const status = readElement(integer, statusInfo.content)
  const code = status.content.join()
  if (code !== granted && code !== grantedWithMods) {
    throw new Error(`it refused with status ${code}${reasonIn(status.rest)}`)
  }
  if (!statusInfo.rest.includes(hashOf(text))) throw new Error('its timestamp is for something else')
}

/** The first text of a PKIFreeText, if there is one. */
function reasonIn(rest: Buffer): string {
  if (rest[0] !== sequence) return ''
  const { content } = readElement(utf8String, readElement(sequence, rest).content)
  return `: ${content.toString()}`
}

/** The content of the first DER element, which must have this tag, and what comes after it. */
function readElement(tag: number, bytes: Buffer): { content: Buffer; rest: Buffer } {
  const first = bytes[1] ?? 0
  const lengthBytes = first < 0x80 ? 0 : first - 0x80
  const begin = 2 + lengthBytes
  if (bytes[0] !== tag || begin > bytes.length || lengthBytes > 4 || first === 0x80) throw notDer()
  const end = begin + (lengthBytes === 0 ? first : bytes.readUIntBE(2, lengthBytes))
  if (end > bytes.length) throw notDer()
  return { content: bytes.subarray(begin, end), rest: bytes.subarray(end) }
}

const notDer = () => new Error('its answer is not a TimeStampResp')
