import { observable } from '../ui/observable.ts'

/** The decisions that this page holds unsent, and whose they are. The sign-in page names them. */
export const unsent = observable<{ count: number; userName: string } | undefined>(undefined)
