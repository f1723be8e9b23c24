import { readFileSync } from 'node:fs'
import { isOfLog, readVerifierKey, type VerifierKey } from '../../../proof/note.ts'
import type { Vouched } from '../../../proof/proof.ts'
import type { SigningKeys } from '../../../proof/receipt.ts'
import type { Judgement } from '../../../proof/verdict.ts'
import { instantOf } from '../../../proof/words.ts'
import type { Invocation } from '../command.ts'
import { Refused } from '../failures.ts'

/** The public keys by which a service signs JWTs. */
export interface KeySet {
  file: string
  jwks: SigningKeys
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
    logs: await verifierKeys('log-key', lists['log-key']),
    witnesses: await verifierKeys('witness', lists.witness),
    services: (lists.jwks ?? []).map(keySetOf),
    used: new Set(),
  }
}

export const verifierKeysOf = ({ logs, witnesses }: GivenKeys) => [...logs, ...witnesses]

function verifierKeys(option: 'log-key' | 'witness', texts: readonly string[] = []): Promise<VerifierKey[]> {
  return Promise.all(
    texts
      .flatMap((each) => each.split(/, */))
      .map(async (text) => {
        try {
          const key = await readVerifierKey(text)
          if (isOfLog(key) !== (option === 'log-key')) {
            throw new Error(`this is the key of a ${isOfLog(key) ? 'log' : 'witness'}`)
          }
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

/** Notes the keys on which a judgement rests. Throws `Refused` unless it is valid. */
export function requireValid(
  what: 'checkpoint' | 'receipt',
  name: string,
  judged: Judgement,
  keys: GivenKeys,
) {
  const { faults, missing, restsOn } = judged
  if (faults.length > 0) throw new Refused(`bad-${what}`, `${name} is not valid: ${faults.join('; ')}`)
  if (missing.length > 0)
    throw new Refused('not-checked', `${name} is not checked yet: ${missing.join('; ')}`)
  for (const key of restsOn) keys.used.add(key)
}

/** As in "1 of 2 witnesses cosigned it: w.example.org (2026-11-22T12:00:00.000Z)". Nothing without any. */
export function cosignaturesOf(what: string, vouched: readonly Vouched[], keys: GivenKeys): string[] {
  const newest = newestCosignatures(vouched)
  if (newest.size === 0) return []
  const { length } = keys.witnesses
  const names = [...newest].map(([{ name }, seconds]) => `${name} (${instantOf(seconds)})`)
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
