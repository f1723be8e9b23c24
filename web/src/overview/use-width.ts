import { type RefObject, useLayoutEffect, useState } from 'react'

/** The inner width of an element in whole pixels, as it changes; 0 until it is known, which is before it is painted. */
export function useWidth(element: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0)
  useLayoutEffect(() => {
    const { current } = element
    if (current === null) return undefined
    const measure = () => setWidth(Math.round(current.clientWidth))
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(current)
    return () => observer.disconnect()
  }, [element])
  return width
}
