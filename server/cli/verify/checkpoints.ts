import { readFileSync } from 'node:fs'
import { eraOf, type SignedHead } from '../../../proof/log.ts'
import { readNote, type VerifierKey } from '../../../proof/note.ts'
import { type Vouched, vouchedBy } from '../../../proof/proof.ts'
import { judgeCheckpoint } from '../../../proof/verdict.ts'
import { Refused } from '../failures.ts'
import { type GivenKeys, requireValid, verifierKeysOf } from './keys.ts'

/** A head that the log must agree with, and the name of its source. */
export interface Kept extends SignedHead {
  name: string
}

/** A checkpoint that was given. Keys that were given, too, stand behind it. */
export interface KeptCheckpoint extends Kept {
  vouched: Vouched
}

/** A file is a checkpoint, or lines of the service's log, each with one as `checkpoint`. */
export async function readCheckpoints(files: readonly string[], keys: GivenKeys): Promise<KeptCheckpoint[]> {
  const kept: KeptCheckpoint[] = []
  for (const file of files) {
    const text = readFileSync(file, 'utf8')
    // A failed cron job may leave an empty file. It would compare nothing, and everything would look intact.
    if (text.trim() === '') throw new Refused('bad-checkpoint', `${file} has no checkpoint`)
    const lines = text.startsWith('{') ? text.split('\n') : [text]
    for (const [index, line] of lines.entries()) {
      if (line.trim() === '') continue
      const name = lines.length > 2 ? `${file}:${index + 1}` : file
      kept.push(await readOne(name, line, keys))
    }
  }
  return kept
}

async function readOne(name: string, line: string, keys: GivenKeys): Promise<KeptCheckpoint> {
  const given = verifierKeysOf(keys)
  const vouched = await vouchedIn(line, given).catch((cause: Error) => {
    throw new Refused('bad-checkpoint', `${name} is not a checkpoint: ${cause.message}`, { cause })
  })
  requireValid('checkpoint', name, judgeCheckpoint(vouched, given), keys)
  return { ...headOf(vouched), name, vouched }
}

async function vouchedIn(line: string, keys: readonly VerifierKey[]): Promise<Vouched> {
  return vouchedBy(readNote(line.startsWith('{') ? String(JSON.parse(line).checkpoint) : line), keys)
}

export function headOf({ origin, size, root }: Vouched): SignedHead {
  return { era: eraOf(origin), size, root: Buffer.from(root).toString('hex') }
}
