/**
 * The witnesses of the log: other people's programs that cosign its checkpoints, so that it cannot go back or
 * fork unseen (ADR 54). Nothing waits for them: no write, no seal, no start and no stop.
 */
import { readVerifierKey, spellVerifierKey } from '../../../proof/note.ts'
import { type Config, ConfigurationError } from '../../config.ts'
import { safeAddress } from '../../setting.ts'
import type { Witness } from './ask.ts'

export interface Witnesses {
  list: readonly Witness[]
  /** How many of them must cosign a checkpoint. */
  quorum: number
}

/** Reads the settings. Throws `ConfigurationError` that names every fault. */
export async function loadWitnesses({
  logWitnesses: items,
  logWitnessQuorum: asked,
}: Pick<Config, 'logWitnesses' | 'logWitnessQuorum'>): Promise<Witnesses> {
  const faults: string[] = []
  const read = items.map((item, index) =>
    readWitness(item).catch(({ message }: Error) => {
      faults.push(`LOG_WITNESSES: witness ${index + 1} of ${items.length}: ${message}`)
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
  return { list, quorum }
}

async function readWitness(item: string): Promise<Witness> {
  const [spelled = '', address, ...rest] = item.split(/\s+/)
  if (address === undefined || rest.length > 0)
    throw new Error('must be a verifier key, a space and an address')
  const key = await readVerifierKey(spelled)
  if (key.type !== 'cosignature/v1') throw new Error('this is the key of a log; that of a witness is needed')
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
