import { observable } from './observable.ts'

/** Whether the browser has a connection, as far as it knows: it may be wrong when it says so. */
export const online = observable(navigator.onLine)

for (const name of ['online', 'offline']) addEventListener(name, () => online.set(navigator.onLine))
