import { useEffect, useRef, useState } from 'react'

const calmMilliseconds = 700

/**
 * Read out by screen readers once the text has changed and come to rest, not at every key. Text that is there
 * from the start is not read out. While the text is undefined, the last one stays.
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
