import { observable } from './observable.ts'

interface Toast {
  id: number
  text: string
}

const shownMilliseconds = 6_000
export const toasts = observable<readonly Toast[]>([])
let lastId = 0

/** Shows a message for a few seconds, once however often it is repeated. Screen readers read it out. */
export function announce(text: string): void {
  lastId += 1
  const toast = { id: lastId, text }
  toasts.set([...toasts.get().filter((other) => other.text !== text), toast])
  setTimeout(() => toasts.set(toasts.get().filter((other) => other !== toast)), shownMilliseconds)
}

/** Removes all messages, because the person they were for has left. */
export function silence(): void {
  toasts.set([])
}
