import { readFileSync } from 'node:fs'
import { readVerifierKey, type VerifierKey } from '../../../proof/note.ts'
import type { Vouched } from '../../../proof/proof.ts'
import type { verifyReceipt } from '../../../proof/receipt.ts'
import type { Invocation } from '../command.ts'
import { Refused } from '../failures.ts'

/** The public keys of a service, for its receipts. */
export interface KeySet {
  file: string
  jwks: Parameters<typeof verifyReceipt>[1]
}

/** The given keys. `used` has those that have checked a signature. */
export interface GivenKeys {
  logs: VerifierKey[]
  witnesses: VerifierKey[]
  services: KeySet[]
  used: Set<VerifierKey | KeySet>
}

export async function readKeys({ lists }: Invocation): Promise<GivenKeys> {
  return {
    logs: await verifierKeys('log-key', 'ed25519', lists['log-key']),
    witnesses: await verifierKeys('witness', 'cosignature/v1', lists.witness),
    services: (lists.jwks ?? []).map(keySetOf),
    used: new Set(),
  }
}

export const verifierKeysOf = ({ logs, witnesses }: GivenKeys) => [...logs, ...witnesses]

const kinds = { ed25519: 'the key of a log', 'cosignature/v1': 'the key of a witness' }

function verifierKeys(
  option: string,
  type: VerifierKey['type'],
  texts: readonly string[] = [],
): Promise<VerifierKey[]> {
  return Promise.all(
    texts.map(async (text) => {
      try {
        const key = await readVerifierKey(text)
        if (key.type !== type) throw new Error(`this is ${kinds[key.type]}`)
        return key
      } catch (cause) {
        throw new Refused(`bad-${option}`, `--${option} ${text}: ${(cause as Error).message}`, { cause })
      }
    }),
  )
}

function keySetOf(file: string): KeySet {
  const text = readFileSync(file, 'utf8')
  try {
    const jwks = JSON.parse(text)
    if (Array.isArray(jwks.keys)) return { file, jwks }
  } catch {
    // It is not JSON.
  }
  throw new Refused('bad-jwks', `${file} is not a key set: it must be the answer of /.well-known/jwks.json`)
}

/** Notes which keys signed a checkpoint. Throws an Error if log keys were given and none of them did. */
export function requireSigned({ origin, signed, cosigned, forged }: Vouched, keys: GivenKeys): void {
  if (keys.logs.length > 0) {
    if (!keys.logs.some(({ name }) => name === origin)) throw new Error(`none of the keys is for ${origin}`)
    if (signed.length === 0) throw new Error('none of the keys signed it')
  }
  const [other] = forged
  if (other !== undefined) throw new Error(`the signature of ${other.name} is false`)
  for (const key of [...signed, ...cosigned.map((one) => one.key)]) keys.used.add(key)
}

/** Throws `Refused` if witnesses were given and none of them cosigned any of the checkpoints. */
export function requireCosigned(what: string, vouched: readonly Vouched[], { witnesses }: GivenKeys): void {
  if (witnesses.length === 0 || vouched.length === 0) return
  if (vouched.every(({ cosigned }) => cosigned.length === 0)) {
    throw new Refused('not-cosigned', `none of the given witnesses cosigned ${what}`)
  }
}

/** As in "1 of 2 witnesses cosigned it: w.example.org (2026-11-22T12:00:00.000Z)". Nothing without any. */
export function cosignaturesOf(what: string, vouched: readonly Vouched[], keys: GivenKeys): string[] {
  const newest = newestCosignatures(vouched)
  if (newest.size === 0) return []
  const { length } = keys.witnesses
  const names = [...newest].map(
    ([{ name }, seconds]) => `${name} (${new Date(seconds * 1000).toISOString()})`,
  )
  const witnesses = `${length} ${length === 1 ? 'witness' : 'witnesses'}`
  return [`${newest.size} of ${witnesses} cosigned ${what}: ${names.join(', ')}.`]
}

/** The last time at which each witness cosigned one of the checkpoints. */
function newestCosignatures(vouched: readonly Vouched[]): Map<VerifierKey, number> {
  const newest = new Map<VerifierKey, number>()
  for (const { key, seconds } of vouched.flatMap(({ cosigned }) => cosigned)) {
    newest.set(key, Math.max(seconds, newest.get(key) ?? 0))
  }
  return newest
}

/** The keys that checked no signature, as options. */
export function unusedOf({ logs, witnesses, services, used }: GivenKeys): string[] {
  const spelled = (option: string, keys: readonly VerifierKey[]) =>
    keys.filter((key) => !used.has(key)).map(({ name, id }) => `--${option} ${name}+${id}`)
  return [
    ...spelled('log-key', logs),
    ...spelled('witness', witnesses),
    ...services.filter((set) => !used.has(set)).map(({ file }) => `--jwks ${file}`),
  ]
}
