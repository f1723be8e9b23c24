import { onRecentSignInNeeded } from '../api/client.ts'
import { observable } from '../ui/observable.ts'
import { onForget } from './session.ts'

/** While the service waits for the password: `settle` reports whether it was given. */
export interface Asking {
  settle(isGiven: boolean): void
}

const asking = observable<Asking | undefined>(undefined)
export const useAsking = asking.use

let asked: Promise<boolean> | undefined

/** Requests that need it at the same time wait for the same answer. */
function askForPassword(): Promise<boolean> {
  asked ??= new Promise<boolean>((settle) => asking.set({ settle })).finally(() => {
    asked = undefined
    asking.set(undefined)
  })
  return asked
}

onRecentSignInNeeded(askForPassword)
onForget(() => asking.get()?.settle(false))
