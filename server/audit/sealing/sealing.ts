/**
 * What changes the log: sealing adds lines at its end, each restore begins an era with one, and an erasure
 * takes a name or a text out. A log that witnesses contradict is not sealed.
 */
import { hash } from 'node:crypto'
import { canonicalJson } from '../../../proof/canonical.ts'
import { LogTree } from '../../../proof/log-tree.ts'
import type { Trx } from '../../db/tables.ts'
import { lineOf } from '../events/line.ts'
import { type EventToSeal, unsealedEvents } from '../events/store.ts'
import { type LockedHead, lockHead, type Seal, storeSeals, storeTile } from './store.ts'

/**
 * Moves at most `limit` committed events into the log and returns how many. Each gets its place, and becomes
 * a leaf of the tree. Only sealers take the lock: writers of events never wait, and a
 * second sealer finds nothing to do. Events of one subject are sealed in the order in which they happened,
 * because each change of a row waits for the one before it.
 */
export async function sealEvents(trx: Trx, { limit }: { limit: number }): Promise<number> {
  const head = await lockHead(trx)
  if (head === undefined) return 0
  const events = await unsealedEvents(trx, limit)
  if (events.length > 0) await addLines(trx, head, events)
  return events.length
}

/**
 * Moves events into the log behind its head, which the transaction holds. A leaf is `hashOf` the line: with
 * node:crypto it takes 0.6 µs instead of 3.3, and a node of the tree 0.4 instead of 1.2.
 */
export async function addLines(trx: Trx, head: LockedHead, events: readonly EventToSeal[]): Promise<void> {
  const tree = new LogTree(head, joined)
  const seals = events.map((event): Seal => {
    const sequence = tree.size + 1
    const leaf = hash('sha256', `\0${canonicalJson(lineOf(event, sequence))}`)
    tree.add(leaf)
    return { number: event.number, sequence, hash: leaf }
  })
  await storeSeals(trx, seals, { ...tree.head, edge: tree.edge })
  for (const tile of tree.tiles) await storeTile(trx, tile)
}

const joined = (left: string, right: string) => hash('sha256', Buffer.from(`01${left}${right}`, 'hex'))
