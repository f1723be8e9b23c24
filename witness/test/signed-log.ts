import { createHash, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { spellRequest } from '../../proof/add-checkpoint.ts'
import { type Bytes, concat } from '../../proof/bytes.ts'
import type { Head } from '../../proof/log-tree.ts'
import {
  cosignature,
  cosignedMessage,
  type Note,
  spellCheckpoint,
  spellNote,
  type VerifierKey,
  verifierKey,
} from '../../proof/note.ts'
import { consistencyRanges, rootOf } from '../../proof/tree.ts'
import { publicKeyOf, signBy } from '../keys.ts'

/** A log or a witness: both sign notes. */
export interface Signer {
  key: VerifierKey
  privateKey: KeyObject
}

export async function newSigner(
  name: string,
  type: VerifierKey['type'] = 'ed25519',
  privateKey = newPrivateKey(type),
): Promise<Signer> {
  return { key: await verifierKey(name, type, publicKeyOf(privateKey)), privateKey }
}

const newPrivateKey = (type: VerifierKey['type']) =>
  type === 'subtree/v1'
    ? generateKeyPairSync('ml-dsa-44').privateKey
    : generateKeyPairSync('ed25519').privateKey

export function signatureBy({ key: { name, id }, privateKey }: Signer, text: string) {
  return { name, id, signature: signBy(privateKey, Buffer.from(text)) }
}

export function cosignatureBy({ key, privateKey }: Signer, text: string, seconds: number) {
  const { name, id } = key
  const signature = signBy(privateKey, cosignedMessage(key, text, seconds))
  return { name, id, signature: cosignature(seconds, signature) }
}

/** A checkpoint of the log with this head: logs sign it, witnesses cosign it. */
export function checkpointBy(signers: readonly Signer[], origin: string, { size, root }: Head): string {
  const text = spellCheckpoint({ origin, size, root: new Uint8Array(Buffer.from(root, 'hex')) })
  const signatures = signers.map((signer) =>
    signer.key.type === 'ed25519' ? signatureBy(signer, text) : cosignatureBy(signer, text, 1_795_000_000),
  )
  return spellNote({ text, signatures })
}

function sha256(...parts: Bytes[]): Bytes {
  return Uint8Array.from(
    createHash('sha256')
      .update(concat(...parts))
      .digest(),
  )
}

const join = (left: Bytes, right: Bytes) => sha256(Uint8Array.of(1), left, right)

/** A log that signs whatever a test wants it to sign. */
export class SignedLog {
  readonly signer: Signer
  readonly leaves: Bytes[] = []

  static async named(origin: string, size = 0): Promise<SignedLog> {
    return new SignedLog(await newSigner(origin, 'ed25519')).grow(size)
  }

  constructor(signer: Signer) {
    this.signer = signer
  }

  get origin(): string {
    return this.signer.key.name
  }

  grow(count: number, version = ''): this {
    for (let added = 0; added < count; added += 1) {
      this.leaves.push(sha256(Uint8Array.of(0), Buffer.from(`${version}${this.leaves.length}`)))
    }
    return this
  }

  /** The same log up to this size, and other leaves from there. */
  forkAt(size: number, count: number): SignedLog {
    const fork = new SignedLog(this.signer)
    fork.leaves.push(...this.leaves.slice(0, size))
    return fork.grow(count, 'other ')
  }

  rootAt(size: number): Bytes {
    return size === 0 ? sha256() : rootOf(this.leaves.slice(0, size), join)
  }

  note(size = this.leaves.length, signers = [this.signer]): Note {
    const text = spellCheckpoint({ origin: this.origin, size, root: this.rootAt(size) })
    return { text, signatures: signers.map((signer) => signatureBy(signer, text)) }
  }

  /** The proof that the log only grew. */
  path(from: number, size = this.leaves.length): Bytes[] {
    if (from === 0) return []
    return consistencyRanges(from, size).map((range) => rootOf(this.leaves.slice(...range), join))
  }

  request(from: number, size = this.leaves.length): string {
    return spellRequest({ from, path: this.path(from, size), note: this.note(size) })
  }
}
