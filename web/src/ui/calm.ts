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
