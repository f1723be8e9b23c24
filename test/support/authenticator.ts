import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'

type Algorithm = 'ES256' | 'EdDSA' | 'RS256'

/** Ways in which an authenticator or a browser differs from an honest one. */
export interface Manner {
  origin?: string
  rpId?: string
  type?: string
  crossOrigin?: boolean
  challenge?: string
  /** Flags of WebAuthn Level 3 §6.1: UP 1, UV 4, BE 8, BS 16. By default 0x1d: present, verified, synced. */
  flags?: number
  counter?: number
  userHandle?: string | null
  id?: string
  format?: string
  /** The attestation statement, or how it is made of the bytes that it signs. */
  statement?: Cbor | ((signed: Buffer) => Cbor)
  /** The key that is offered, as COSE. */
  key?: Cbor
  algorithm?: number
}

const attested = 0x40
const usualFlags = 0x1d

/** A passkey of a software authenticator, as a browser on the page of the service would use it. */
export class Passkey {
  readonly id: string
  counter = 0
  readonly algorithm: Algorithm
  readonly keys: { publicKey: KeyObject; privateKey: KeyObject }
  userHandle: string | null

  constructor(known: Partial<Pick<Passkey, 'algorithm' | 'id' | 'keys' | 'userHandle'>> = {}) {
    const { algorithm = 'ES256', id, keys, userHandle = null } = known
    this.id = id ?? randomBytes(16).toString('base64url')
    this.algorithm = algorithm
    this.keys = keys ?? keysOf(algorithm)
    this.userHandle = userHandle
  }

  /** Answers creation options: `RegistrationResponseJSON`. */
  // biome-ignore lint/suspicious/noExplicitAny: options of an answer
  create(options: any, manner: Manner = {}) {
    this.userHandle = options.user.id
    const id = Buffer.from(this.id, 'base64url')
    const length = Buffer.alloc(2)
    length.writeUInt16BE(id.length)
    const authData = Buffer.concat([
      this.data(options.rp.id, (manner.flags ?? usualFlags) | attested, manner),
      Buffer.alloc(16),
      length,
      id,
      cbor(manner.key ?? this.cose()),
    ])
    const clientDataJSON = clientData('webauthn.create', options.challenge, options.rp.id, manner)
    const signed = Buffer.concat([authData, sha256(Buffer.from(clientDataJSON, 'base64url'))])
    const { statement = new Map() } = manner
    const attestation = new Map<Cbor, Cbor>([
      ['fmt', manner.format ?? 'none'],
      ['attStmt', typeof statement === 'function' ? statement(signed) : statement],
      ['authData', authData],
    ])
    return {
      id: manner.id ?? this.id,
      rawId: this.id,
      type: 'public-key',
      authenticatorAttachment: 'platform',
      clientExtensionResults: {},
      response: {
        clientDataJSON,
        attestationObject: cbor(attestation).toString('base64url'),
        transports: ['internal'],
      },
    }
  }

  /** Answers request options: `AuthenticationResponseJSON`. */
  // biome-ignore lint/suspicious/noExplicitAny: options of an answer
  get(options: any, manner: Manner = {}) {
    const { userHandle = this.userHandle } = manner
    const clientDataJSON = clientData('webauthn.get', options.challenge, options.rpId, manner)
    const authData = this.data(options.rpId, manner.flags ?? usualFlags, manner)
    const signed = Buffer.concat([authData, sha256(Buffer.from(clientDataJSON, 'base64url'))])
    const hash = this.algorithm === 'EdDSA' ? null : 'sha256'
    return {
      id: this.id,
      rawId: this.id,
      type: 'public-key',
      clientExtensionResults: {},
      response: {
        clientDataJSON,
        authenticatorData: authData.toString('base64url'),
        signature: sign(hash, signed, this.keys.privateKey).toString('base64url'),
        ...(userHandle !== null && { userHandle }),
      },
    }
  }

  data(rpId: string, flags: number, manner: Manner): Buffer {
    const counter = Buffer.alloc(4)
    counter.writeUInt32BE(manner.counter ?? this.counter)
    return Buffer.concat([sha256(manner.rpId ?? rpId), Buffer.from([flags]), counter])
  }

  /** The public key, as the log has it. */
  get jwk() {
    return this.keys.publicKey.export({ format: 'jwk' })
  }

  cose(): Cbor {
    const { jwk } = this
    const part = (text = '') => Buffer.from(text, 'base64url')
    if (this.algorithm === 'RS256') {
      return new Map<Cbor, Cbor>([
        [1, 3],
        [3, -257],
        [-1, part(jwk.n)],
        [-2, part(jwk.e)],
      ])
    }
    return this.algorithm === 'EdDSA'
      ? new Map<Cbor, Cbor>([
          [1, 1],
          [3, -8],
          [-1, 6],
          [-2, part(jwk.x)],
        ])
      : new Map<Cbor, Cbor>([
          [1, 2],
          [3, -7],
          [-1, 1],
          [-2, part(jwk.x)],
          [-3, part(jwk.y)],
        ])
  }
}

function keysOf(algorithm: Algorithm) {
  if (algorithm === 'RS256') return generateKeyPairSync('rsa', { modulusLength: 2048 })
  return algorithm === 'EdDSA'
    ? generateKeyPairSync('ed25519')
    : generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
}

function clientData(type: string, challenge: string, rpId: string, manner: Manner): string {
  const { origin = `https://${rpId}`, crossOrigin = false } = manner
  const data = { type: manner.type ?? type, challenge: manner.challenge ?? challenge, origin, crossOrigin }
  return Buffer.from(JSON.stringify(data)).toString('base64url')
}

function sha256(data: string | Buffer): Buffer {
  return createHash('sha256').update(data).digest()
}

export type Cbor = number | string | Buffer | Cbor[] | Map<Cbor, Cbor>

/** RFC 8949, as far as authenticators use it. */
export function cbor(value: Cbor): Buffer {
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value)
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)])
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value])
  if (Array.isArray(value)) return Buffer.concat([head(4, value.length), ...value.map(cbor)])
  return Buffer.concat([head(5, value.size), ...[...value].flat().map((part) => cbor(part))])
}

function head(major: number, count: number): Buffer {
  if (count < 24) return Buffer.from([(major << 5) | count])
  if (count < 256) return Buffer.from([(major << 5) | 24, count])
  return Buffer.from([(major << 5) | 25, count >> 8, count & 255])
}
