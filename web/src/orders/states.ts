import { orderStates } from '../api/facts.ts'

export type StateName = keyof typeof orderStates

export const pending = orderStates.Pending
export const approved = orderStates.Approved

interface StateWords {
  /** The end of a sentence that begins with "the status is". */
  meaning: string
  /** The colours; see controls.css. */
  tone: 'wait' | 'good' | 'bad' | 'quiet'
  /** Whether its sign is full or hollow: no state is told by colour alone. */
  isFull: boolean
  /** What the history says of an order that came to it; undefined of the state in which every order begins. */
  event: string | undefined
}

/** All that the app says of a state wherever it says something; a new one does not compile until it stands here. */
export const words: Record<StateName, StateWords> = {
  Pending: { meaning: 'waiting for approval', tone: 'wait', isFull: false, event: undefined },
  Approved: { meaning: 'approved', tone: 'good', isFull: true, event: 'Approved' },
  Rejected: { meaning: 'rejected', tone: 'bad', isFull: true, event: 'Rejected' },
  Withdrawn: { meaning: 'withdrawn', tone: 'quiet', isFull: true, event: 'Withdrawn' },
}

/** In the order of their numbers. */
export const stateNames = Object.keys(words) as StateName[]

/** By its number; undefined of one that this version of the app does not know. */
export function nameOf(status: number): StateName | undefined {
  return stateNames.find((name) => orderStates[name] === status)
}

/** How a status is told wherever it is shown: a word, and the class of its sign (see controls.css). */
export function shownAs(status: number): { word: string; className: string } {
  const name = nameOf(status)
  // A newer service knows states that this app does not: the number is then better than a wrong word.
  if (name === undefined) return { word: `Status ${status}`, className: 'sign' }
  const { tone, isFull } = words[name]
  return { word: name, className: isFull ? `sign is-full tone-${tone}` : `sign tone-${tone}` }
}

/** By its name in any case or its number, as the filter language takes them. */
export function stateOf(text: string): StateName | null {
  const wanted = text.toLowerCase()
  return (
    stateNames.find((name) => name.toLowerCase() === wanted || String(orderStates[name]) === wanted) ?? null
  )
}
