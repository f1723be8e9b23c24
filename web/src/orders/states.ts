import { orderStates } from '../../../client/src/facts.ts'

export type StateName = keyof typeof orderStates

export const pending = orderStates.Pending
export const approved = orderStates.Approved

interface StateWords {
  /** The end of a sentence that begins with "the status is". */
  meaning: string
  /** The colours; see controls.css. */
  tone: 'wait' | 'good' | 'bad' | 'quiet'
  /** Its form, as a sign and as a bar of the chart: no state is told by colour alone. */
  form: 'hollow' | 'full' | 'crossed' | 'dashed'
}

/** All that the app says of a state wherever it says something; a new one does not compile until it stands here. */
export const words: Record<StateName, StateWords> = {
  Pending: { meaning: 'waiting for approval', tone: 'wait', form: 'hollow' },
  Approved: { meaning: 'approved', tone: 'good', form: 'full' },
  Rejected: { meaning: 'rejected', tone: 'bad', form: 'crossed' },
  Withdrawn: { meaning: 'withdrawn', tone: 'quiet', form: 'dashed' },
}

/** In the order of their numbers. */
export const stateNames = Object.keys(words) as StateName[]

/** By its number; undefined of one that this version of the app does not know. */
export function nameOf(status: number): StateName | undefined {
  return stateNames.find((name) => orderStates[name] === status)
}

/** The classes of what shows a state by colour and form. */
export function classesOf(name: StateName): string {
  const { tone, form } = words[name]
  return `tone-${tone} is-${form}`
}

/** How a status is told wherever it is shown: a word, and the class of its sign (see controls.css). */
export function shownAs(status: number): { word: string; className: string } {
  const name = nameOf(status)
  // A newer service knows states that this app does not: the number is then better than a wrong word.
  if (name === undefined) return { word: `Status ${status}`, className: 'sign' }
  return { word: name, className: `sign ${classesOf(name)}` }
}

/** By its name in any case or its number, as the filter language takes them. */
export function stateOf(text: string): StateName | null {
  const wanted = text.toLowerCase()
  return (
    stateNames.find((name) => name.toLowerCase() === wanted || String(orderStates[name]) === wanted) ?? null
  )
}
