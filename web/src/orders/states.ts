import { type eventKinds, orderStates, orderTransitions } from '../../../client/src/facts.ts'
import { inSeries } from '../ui/format.ts'

export type StateName = keyof typeof orderStates
export type ActionName = keyof typeof orderTransitions

/** The state, by number, that has a certificate. */
export const approved = orderStates[orderTransitions.approve.to]

/** The states, by number, in which another order may replace an order. */
export const replaceable: readonly number[] = [orderStates.Rejected, orderStates.Withdrawn]

/** Orders that another one may repeat by mistake. */
export const repeatableFilter = replaceable.map((state) => `status!=${state}`).join(' ')

/** The states in which an order waits for approval: as a word of a sentence, and as a search. */
export const waitingStates = orderTransitions.approve.from satisfies readonly StateName[]
export const waitingWord = inSeries(waitingStates).toLowerCase()
const eachWaiting = waitingStates.map((name) => `status=${name}`)
export const waitingFilter = eachWaiting.length > 1 ? `(${eachWaiting.join(' OR ')})` : eachWaiting.join()

/**
 * Orders that the person may approve now, in their own right or in someone's place, and those that only
 * others may.
 */
export const mineFilter = 'waits:me'
export const nobodyFilter = 'waits:nobody'
export const ownFilter = 'createdBy=me'
export const approvedByMeFilter = 'approvedBy=me'
export const othersFilter = `${waitingFilter} NOT ${mineFilter}`

interface StateWords {
  /** The end of a sentence that begins with "the status is". */
  meaning: string
  /** The colours; see controls.css. */
  tone: 'wait' | 'good' | 'bad' | 'quiet'
  /** The form of its sign: colour alone never shows a state. */
  form: 'hollow' | 'full' | 'crossed' | 'dashed'
}

/** All that the app says about a state. A new state does not compile until it is listed here. */
export const words: Record<StateName, StateWords> = {
  Pending: { meaning: 'waiting for approval', tone: 'wait', form: 'hollow' },
  Approved: { meaning: 'approved', tone: 'good', form: 'full' },
  Rejected: { meaning: 'rejected', tone: 'bad', form: 'crossed' },
  Withdrawn: { meaning: 'withdrawn', tone: 'quiet', form: 'dashed' },
}

export interface EventWords {
  /** As in "Approved by admin". */
  label: string
  /** As in "admin **approved** the order". */
  verb: string
  /** Shown in place of an erased text; absent where an event need not have one. */
  erased?: string
}

/** All that the app says about a kind of event of an order. */
export const eventWords: Record<(typeof eventKinds.order)[number], EventWords> = {
  created: { label: 'Created', verb: 'created' },
  'approval-given': { label: 'Approval given', verb: 'gave approval to' },
  approved: { label: 'Approved', verb: 'approved' },
  rejected: { label: 'Rejected', verb: 'rejected', erased: 'The reason was erased.' },
  withdrawn: { label: 'Withdrawn', verb: 'withdrew' },
  noted: { label: 'Note added', verb: 'added a note to', erased: 'The note was erased.' },
  'document-added': { label: 'Document added', verb: 'added a document to', erased: 'Its name was erased.' },
  'document-removed': {
    label: 'Document removed',
    verb: 'removed a document from',
    erased: 'Its name was erased.',
  },
  'document-erased': { label: 'Document erased', verb: 'erased a document of' },
}

/** In the order of their numbers. */
export const stateNames = Object.keys(words) as StateName[]

/** By its number; undefined for a state that this version of the app does not know. */
export function nameOf(status: number): StateName | undefined {
  return stateNames.find((name) => orderStates[name] === status)
}

export const actionNames = Object.keys(orderTransitions) as ActionName[]

const isFrom = (action: ActionName, state: StateName) =>
  (orderTransitions[action].from as readonly StateName[]).includes(state)

/** Whether the action may be taken on an order with that status. */
export function allows(status: number, action: ActionName): boolean {
  const state = nameOf(status)
  return state !== undefined && isFrom(action, state)
}

/** Whether any action may be taken. */
export const isOpen = (status: number) => actionNames.some((action) => allows(status, action))

/** The classes that show a state by colour and form. */
export function classesOf(name: StateName): string {
  const { tone, form } = words[name]
  return `tone-${tone} is-${form}`
}

/** How a status is shown everywhere: a word, and the class of its sign (see controls.css). */
export function shownAs(status: number): { word: string; className: string } {
  const name = nameOf(status)
  // The state is from a newer service, and its number is better than a wrong word.
  if (name === undefined) return { word: `Status ${status}`, className: 'sign' }
  return { word: name, className: `sign ${classesOf(name)}` }
}

/** By its name, ignoring case, or its number, as the filter language takes them. */
export function stateOf(text: string): StateName | null {
  const wanted = text.toLowerCase()
  return (
    stateNames.find((name) => name.toLowerCase() === wanted || String(orderStates[name]) === wanted) ?? null
  )
}
