import { useEffect, useRef, useState } from 'react'

const calmMilliseconds = 700

/**
 * Read out by screen readers when it has changed and come to rest, not at every key; what is there from the
 * start is not, what comes later is. While it is undefined, what was said last stands.
 */
export function Spoken({ text }: { text: string | undefined }) {
  const [spoken, setSpoken] = useState('')
  const known = useRef(text)
  useEffect(() => {
    if (text === undefined || text === known.current) return undefined
    const timer = setTimeout(() => {
      known.current = text
      setSpoken(text)
    }, calmMilliseconds)
    return () => clearTimeout(timer)
  }, [text])
  return (
    <span className="visually-hidden" role="status">
      {spoken}
    </span>
  )
}
