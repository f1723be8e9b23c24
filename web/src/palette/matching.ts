import type { ReactNode } from 'react'

/** Something that the palette can find, and what it does. */
export interface Entry {
  /** Unique among all entries. */
  id: string
  group: 'Views' | 'Pages' | 'Actions' | 'Orders' | 'Users' | 'Services'
  name: string
  hint?: ReactNode
  /** Single keys that do the same. */
  keys?: string
  run(): void
}

/** A page that the palette can go to. */
export interface Destination {
  to: '/' | '/orders' | '/orders/new' | '/approval-policy' | '/account' | '/accounts' | '/webhooks' | '/log'
  name: string
  key?: string
}

const folded = (text: string) => text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase()

/**
 * The entries whose names contain every word of the text, in their order; first those where a word begins
 * with the text. All entries for an empty text.
 */
export function matching(entries: readonly Entry[], text: string): Entry[] {
  const words = folded(text).split(/\s+/).filter(Boolean)
  const found = entries.filter(({ name }) => words.every((word) => folded(name).includes(word)))
  const isClose = ({ name }: Entry) => ` ${folded(name)}`.includes(` ${words.join(' ')}`)
  return [...found.filter(isClose), ...found.filter((entry) => !isClose(entry))]
}

/** By group, in the order in which the groups first appear. */
export function grouped(entries: readonly Entry[]): { group: Entry['group']; entries: Entry[] }[] {
  const groups = [...new Set(entries.map(({ group }) => group))]
  return groups.map((group) => ({ group, entries: entries.filter((entry) => entry.group === group) }))
}
