import { observable } from './observable.ts'

/** How many orders wait for this person, for the title of the tab. */
export const waiting = observable(0)
