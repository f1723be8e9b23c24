import { createPublicKey, generateKeyPair, randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import { sha256 } from '../ids.ts'
import type { Invocation, Outcome } from './command.ts'
import { Refused, UsageError } from './failures.ts'
import { withNewFile } from './output.ts'

export async function runServe(invocation: Invocation): Promise<Outcome> {
  const { development, switches } = invocation
  for (const name of ['allow-remote-demo', 'no-demo-orders']) {
    if (switches.has(name) && !development) throw new UsageError(`--${name} needs --dev`)
  }
  const { serve } = await import('../serve.ts')
  await serve({
    development,
    allowRemoteDemo: switches.has('allow-remote-demo'),
    demoOrders: !switches.has('no-demo-orders'),
  })
  return { value: undefined, text: '' }
}

const defaultBits = 3072
const minimumBits = 2048
const maximumBits = 8192

const pem = {
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
} as const

/** The key goes only to a new file of mode 0600 or to standard output. */
export async function runGenerateKey(invocation: Invocation): Promise<Outcome> {
  const { switches, texts } = invocation
  const other = ['antiforgery', 'log', 'webhook'].filter((name) => switches.has(name))
  if (other.length > 1) {
    throw new UsageError(`${other.map((name) => `--${name}`).join(' and ')} are different keys: give one`)
  }
  if (other.length > 0 && texts.bits !== undefined) {
    throw new UsageError(`--bits is for RSA keys, not for --${other[0]}`)
  }
  if (switches.has('antiforgery')) return generateSharedKey('an antiforgery key', texts.out)
  if (switches.has('webhook')) return generateSharedKey('a key of webhooks', texts.out)
  if (switches.has('log')) return generateLogKey(texts.out)
  const bits = readBits(texts.bits)
  const { privateKey } = await promisify(generateKeyPair)('rsa', {
    modulusLength: bits,
    publicExponent: 0x10001,
    ...pem,
  })
  const kid = thumbprint(privateKey)
  const file = texts.out
  if (file === undefined) return { value: { kid, bits, privateKey }, text: privateKey }
  await withNewFile(file, privateKey)
  return { value: { kid, bits, file }, text: `Wrote an RSA key of ${bits} bits to ${file} (kid ${kid}).` }
}

/** A key that every instance has, in base64. */
async function generateSharedKey(what: string, file: string | undefined): Promise<Outcome> {
  const key = randomBytes(32).toString('base64')
  if (file === undefined) return { value: { key }, text: key }
  await withNewFile(file, `${key}\n`)
  return { value: { file }, text: `Wrote ${what} to ${file}.` }
}

/** Its owner's name is not part of it: the log's name comes from PUBLIC_URL, a witness's from --name. */
async function generateLogKey(file: string | undefined): Promise<Outcome> {
  const { privateKey } = await promisify(generateKeyPair)('ed25519', pem)
  if (file === undefined) return { value: { privateKey }, text: privateKey }
  await withNewFile(file, privateKey)
  return { value: { file }, text: `Wrote an Ed25519 key to ${file}.` }
}

function readBits(given: string | undefined): number {
  if (given === undefined) return defaultBits
  if (!/^\d{1,6}$/.test(given)) throw new UsageError('--bits takes a number, such as 3072')
  const bits = Number(given)
  if (bits < minimumBits || bits > maximumBits || bits % 8 !== 0) {
    throw new Refused('invalid-bits', `--bits takes a multiple of 8 from ${minimumBits} to ${maximumBits}`)
  }
  return bits
}

/** The `kid` of the published key (RFC 7638 §3). */
function thumbprint(privateKey: string): string {
  const { e, kty, n } = createPublicKey(privateKey).export({ format: 'jwk' })
  return sha256(JSON.stringify({ e, kty, n }))
}
