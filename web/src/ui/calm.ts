import { useEffect, useState } from 'react'

/** The value once it has not changed for this long. Equal content is the same value. */
export function useCalm<Value>(value: Value, milliseconds: number): Value {
  const [calm, setCalm] = useState(value)
  const content = JSON.stringify(value)
  // biome-ignore lint/correctness/useExhaustiveDependencies: equal content is the same value
  useEffect(() => {
    const timer = setTimeout(() => setCalm(value), milliseconds)
    return () => clearTimeout(timer)
  }, [content])
  return calm
}

/** Whether something has been going on for this long. */
export function useIsLong(isGoingOn: boolean, milliseconds: number): boolean {
  const [isLong, setLong] = useState(false)
  useEffect(() => {
    setLong(false)
    if (!isGoingOn) return undefined
    const timer = setTimeout(() => setLong(true), milliseconds)
    return () => clearTimeout(timer)
  }, [isGoingOn, milliseconds])
  return isLong && isGoingOn
}
