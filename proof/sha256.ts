import { hexOfByte } from './bytes.ts'

/**
 * SHA-256 (FIPS 180-4), the same in Node and in a browser. It is written here because it decides what a
 * create costs: Web Crypto hashes only asynchronously, and a library takes twice as long (ADR 68).
 */

/** The first 32 bits of the fractional part. */
const fraction = (root: number) => ((root - Math.floor(root)) * 2 ** 32) | 0

const primes = Array.from({ length: 312 }, (_, at) => at)
  .filter((at) => at > 1)
  .filter((one, _, all) => !all.some((other) => other * other <= one && one % other === 0))
const startWords = Int32Array.from(primes.slice(0, 8), (prime) => fraction(Math.sqrt(prime)))
const roundWords = Int32Array.from(primes.slice(0, 64), (prime) => fraction(Math.cbrt(prime)))

const blockBytes = 64
/** Behind the message: at least one bit and its length. */
const leastPadding = 9

const hash = new Int32Array(8)
const schedule = new Int32Array(64)
let buffer = new Uint8Array(4_096)
let view = new DataView(buffer.buffer)
const encoder = new TextEncoder()

/** Hex SHA-256 of the bytes that `hex` spells in lower case, followed by a text in UTF-8. */
export function sha256(hex: string, text = ''): string {
  const before = hex.length / 2
  const most = before + 3 * text.length + leastPadding + blockBytes
  if (buffer.length < most) {
    buffer = new Uint8Array(2 * most)
    view = new DataView(buffer.buffer)
  }
  for (let at = 0; at < before; at += 1) {
    buffer[at] = 16 * digitOf(hex.charCodeAt(2 * at)) + digitOf(hex.charCodeAt(2 * at + 1))
  }
  const length = before + (text === '' ? 0 : encoder.encodeInto(text, buffer.subarray(before)).written)
  const end = Math.ceil((length + leastPadding) / blockBytes) * blockBytes
  buffer.fill(0, length, end)
  buffer[length] = 0x80
  view.setBigUint64(end - 8, BigInt(length) * 8n)
  hash.set(startWords)
  for (let block = 0; block < end; block += blockBytes) addBlock(block)
  let spelled = ''
  for (let at = 0; at < 8; at += 1) {
    const word = hash[at] as number
    spelled += `${hexOfByte[word >>> 24]}${hexOfByte[(word >>> 16) & 255]}${hexOfByte[(word >>> 8) & 255]}${hexOfByte[word & 255]}`
  }
  return spelled
}

/** Takes the character code of `0` to `9` or `a` to `f`. */
const digitOf = (code: number) => (code < 0x3a ? code - 0x30 : code - 0x57)

const turned = (word: number, bits: number) => (word >>> bits) | (word << (32 - bits))

/** Section 6.2.2. */
function addBlock(block: number): void {
  for (let t = 0; t < 16; t += 1) schedule[t] = view.getInt32(block + 4 * t)
  for (let t = 16; t < 64; t += 1) {
    const x = schedule[t - 15] as number
    const y = schedule[t - 2] as number
    const small0 = turned(x, 7) ^ turned(x, 18) ^ (x >>> 3)
    const small1 = turned(y, 17) ^ turned(y, 19) ^ (y >>> 10)
    schedule[t] = ((schedule[t - 16] as number) + small0 + (schedule[t - 7] as number) + small1) | 0
  }
  let a = hash[0] as number
  let b = hash[1] as number
  let c = hash[2] as number
  let d = hash[3] as number
  let e = hash[4] as number
  let f = hash[5] as number
  let g = hash[6] as number
  let h = hash[7] as number
  for (let t = 0; t < 64; t += 1) {
    const large1 = turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)
    const choice = (e & f) ^ (~e & g)
    const first = (h + large1 + choice + (roundWords[t] as number) + (schedule[t] as number)) | 0
    const large0 = turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)
    const majority = (a & b) ^ (a & c) ^ (b & c)
    h = g
    g = f
    f = e
    e = (d + first) | 0
    d = c
    c = b
    b = a
    a = (first + large0 + majority) | 0
  }
  hash[0] = ((hash[0] as number) + a) | 0
  hash[1] = ((hash[1] as number) + b) | 0
  hash[2] = ((hash[2] as number) + c) | 0
  hash[3] = ((hash[3] as number) + d) | 0
  hash[4] = ((hash[4] as number) + e) | 0
  hash[5] = ((hash[5] as number) + f) | 0
  hash[6] = ((hash[6] as number) + g) | 0
  hash[7] = ((hash[7] as number) + h) | 0
}
