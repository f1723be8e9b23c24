import { observable } from './observable.ts'

interface Toast {
  id: number
  text: string
}

const shownMilliseconds = 6_000
export const toasts = observable<readonly Toast[]>([])
let lastId = 0

/** Says something that happened: seen for a few seconds, and read out by screen readers. */
export function announce(text: string): void {
  lastId += 1
  const toast = { id: lastId, text }
  toasts.set([...toasts.get(), toast])
  setTimeout(() => toasts.set(toasts.get().filter((other) => other !== toast)), shownMilliseconds)
}

/** Takes back what is shown: it was for somebody who is gone. */
export function silence(): void {
  toasts.set([])
}
