/**
 * Statements about the log, which anyone can check without the service: checkpoints, proofs and receipts. A
 * checkpoint is a signed note (c2sp.org/tlog-checkpoint) of how many events the log has, and its root.
 */
import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { bytesOf } from '../../../proof/bytes.ts'
import type { Head } from '../../../proof/log-tree.ts'
import { spellCheckpoint, spellNote, spellVerifierKey, verifierKey } from '../../../proof/note.ts'
import { ed25519PublicKey, ed25519Sign, readPrivateKeys } from '../../private-keys.ts'

/** Ed25519. Each signs, so that a key can be replaced while others still rely on it. */
export type LogKeys = readonly KeyObject[]

interface PublishedKey {
  /** As in signed-note: name, id and key. */
  verifierKey: string
  /** RFC 8037. */
  jwk: { kty: string; crv: string; x: string }
}

/** Reads the keys from PEM files, or makes one for this run. Throws `ConfigurationError`. */
export function loadLogKeys(files: readonly string[]): LogKeys {
  const keys = readPrivateKeys('LOG_KEY_FILES', files, 'ed25519')
  return keys.length > 0 ? keys : [generateKeyPairSync('ed25519').privateKey]
}

/** The name of the log. After a restore it is another log, whose first events are the same. */
export function originOf(publicUrl: string, era: number): string {
  const log = `${new URL(publicUrl).host}/log`
  return era === 1 ? log : `${log}/${era}`
}

export async function signCheckpoint(keys: LogKeys, origin: string, { size, root }: Head): Promise<string> {
  const text = spellCheckpoint({ origin, size, root: new Uint8Array(Buffer.from(root, 'hex')) })
  const signatures = keys.map(async (key) => {
    const { name, id } = await publicKeyOf(key, origin)
    return { name, id, signature: ed25519Sign(key, bytesOf(text)) }
  })
  return spellNote({ text, signatures: await Promise.all(signatures) })
}

/** The keys under the name of the log, as verifiers know them. */
export const publicKeysOf = (keys: LogKeys, origin: string) =>
  Promise.all(keys.map((key) => publicKeyOf(key, origin)))

export function publishedKeys(keys: LogKeys, origin: string): Promise<PublishedKey[]> {
  return Promise.all(
    keys.map(async (key) => ({
      verifierKey: spellVerifierKey(await publicKeyOf(key, origin)),
      jwk: { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(ed25519PublicKey(key)).toString('base64url') },
    })),
  )
}

function publicKeyOf(key: KeyObject, origin: string) {
  return verifierKey(origin, 'ed25519', ed25519PublicKey(key))
}
