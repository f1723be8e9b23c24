/**
 * The witnesses of the log: other people's programs that cosign its checkpoints, so that it cannot go back or
 * fork unseen (ADR 54). Nothing waits for them: no write, no seal, no start and no stop.
 */
import { canCheck, isOfLog, readVerifierKey, spellVerifierKey, UnknownKeyType } from '../../../proof/note.ts'
import { type Config, ConfigurationError } from '../../config.ts'
import { safeAddress } from '../../setting.ts'
import type { Witness } from './ask.ts'

export interface Witnesses {
  list: readonly Witness[]
  /** How many of them must cosign a checkpoint. */
  quorum: number
  /** They are asked at most once in this time. */
  everySeconds: number
  /** Why a witness is not asked: the kind of its key is not known, or cannot be checked here. */
  skipped: readonly string[]
}

/** Reads the settings. Throws `ConfigurationError` that names every fault. */
export async function loadWitnesses({
  logWitnesses: items,
  logWitnessQuorum: asked,
  logWitnessSeconds: everySeconds,
}: Pick<Config, 'logWitnesses' | 'logWitnessQuorum' | 'logWitnessSeconds'>): Promise<Witnesses> {
  const faults: string[] = []
  const skipped: string[] = []
  const read = items.map((item, index) =>
    readWitness(item).catch((error: Error) => {
      const found = error instanceof UnknownKeyType ? skipped : faults
      found.push(`LOG_WITNESSES: witness ${index + 1} of ${items.length}: ${error.message}`)
    }),
  )
  const list = (await Promise.all(read)).filter((witness) => witness !== undefined)
  if (new Set(list.map(({ key }) => key.publicKey.toString())).size < list.length) {
    faults.push('LOG_WITNESSES: two witnesses have the same key')
  }
  const quorum = asked ?? Math.floor(items.length / 2) + 1
  if (asked !== undefined && asked > items.length) {
    faults.push(`LOG_WITNESS_QUORUM: must be at most ${items.length}, the number of LOG_WITNESSES`)
  }
  if (faults.length > 0) throw new ConfigurationError(faults)
  return { list, quorum, everySeconds, skipped }
}

async function readWitness(item: string): Promise<Witness> {
  const [spelled = '', address, ...rest] = item.split(/\s+/)
  if (address === undefined || rest.length > 0)
    throw new Error('must be a verifier key, a space and an address')
  const key = await readVerifierKey(spelled)
  if (isOfLog(key)) throw new Error('this is the key of a log; that of a witness is needed')
  if (!(await canCheck(key))) throw new UnknownKeyType('this Node cannot check signatures by its kind of key')
  return { key, url: parseAddress(address) }
}

/** Answers are signed, except those that refuse. */
function parseAddress(address: string): string {
  const safe = safeAddress(address)
  if (safe === undefined) throw new Error('its address must be https, or http on loopback, without a query')
  return safe.replace(/\/$/, '')
}

/** As it is stored and logged. */
export const idOf = ({ key }: Witness): string => spellVerifierKey(key)
