import { observable } from './observable.ts'

interface Toast {
  id: number
  text: string
}

const shownMilliseconds = 6_000
export const toasts = observable<readonly Toast[]>([])
let lastId = 0

/** Shows a message for a few seconds. Screen readers read it out. */
export function announce(text: string): void {
  lastId += 1
  const toast = { id: lastId, text }
  toasts.set([...toasts.get(), toast])
  setTimeout(() => toasts.set(toasts.get().filter((other) => other !== toast)), shownMilliseconds)
}

/** Removes all messages: the person they were for is gone. */
export function silence(): void {
  toasts.set([])
}
