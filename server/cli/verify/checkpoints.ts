import { readFileSync } from 'node:fs'
import { eraOf, type SignedHead } from '../../../proof/log.ts'
import { readNote } from '../../../proof/note.ts'
import { type Vouched, vouchedBy } from '../../../proof/proof.ts'
import { Refused } from '../failures.ts'
import { type GivenKeys, requireCosigned, requireSigned, verifierKeysOf } from './keys.ts'

/** A head that the log must agree with, and the name of its source. */
export interface Kept extends SignedHead {
  name: string
}

/** A checkpoint that was given. Without keys its signatures are not checked. */
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
  const vouched = kept.map((each) => each.vouched)
  requireCosigned(kept.length === 1 ? 'the checkpoint' : 'a checkpoint', vouched, keys)
  return kept
}

async function readOne(name: string, line: string, keys: GivenKeys): Promise<KeptCheckpoint> {
  try {
    const note = readNote(line.startsWith('{') ? String(JSON.parse(line).checkpoint) : line)
    const vouched = await vouchedBy(note, verifierKeysOf(keys))
    requireSigned(vouched, keys)
    return { ...headOf(vouched), name, vouched }
  } catch (cause) {
    const reason = `${name} is not a checkpoint of this log: ${(cause as Error).message}`
    throw new Refused('bad-checkpoint', reason, { cause })
  }
}

export function headOf({ origin, size, root }: Vouched): SignedHead {
  return { era: eraOf(origin), size, root: Buffer.from(root).toString('hex') }
}
