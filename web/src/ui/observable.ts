import { useSyncExternalStore } from 'react'

/** A value outside React that views follow with `use`. */
export interface Observable<Value> {
  get(): Value
  set(next: Value): void
  /** Returns the value, and draws the component again whenever it changes. */
  use(): Value
}

export function observable<Value>(first: Value): Observable<Value> {
  let value = first
  const observers = new Set<() => void>()
  const observe = (observer: () => void) => {
    observers.add(observer)
    return () => observers.delete(observer)
  }
  const get = () => value
  return {
    get,
    set(next) {
      value = next
      for (const observer of observers) observer()
    },
    use: () => useSyncExternalStore(observe, get, get),
  }
}
