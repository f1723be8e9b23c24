import { useEffect, useRef, useState } from 'react'
import { ordersChanged } from '../queries.ts'
import type { ActionName } from '../states.ts'
import type { Signatures, Subject } from './decisions.ts'
import { sign, signedInWords } from './sign.ts'

/** `words`: what is signed. `failure`: why nothing was. */
export type Touch =
  | { kind: 'awaited'; words: string | undefined }
  | { kind: 'failed'; failure: unknown }
  | undefined

/** A touch that signs decisions. It is called off when the view goes away. */
export function useTouch() {
  const [touch, setTouch] = useState<Touch>()
  const here = useRef(new AbortController())
  const isAwaited = useRef(false)
  useEffect(() => {
    here.current = new AbortController()
    return () => here.current.abort()
  }, [])

  /** Undefined if nothing was signed: then nothing is decided. */
  async function ask(action: ActionName, subjects: readonly Subject[]): Promise<Signatures | undefined> {
    if (subjects.length === 0) return new Map()
    if (isAwaited.current) return undefined
    isAwaited.current = true
    setTouch({ kind: 'awaited', words: signedInWords(action, subjects) })
    const { signal } = here.current
    try {
      const signatures = await sign(action, subjects, signal)
      setTouch(undefined)
      return signal.aborted ? undefined : signatures
    } catch (failure) {
      setTouch({ kind: 'failed', failure })
      // The order may have changed: the view then says so.
      if (!(failure instanceof DOMException)) void ordersChanged()
      return undefined
    } finally {
      isAwaited.current = false
    }
  }
  return { touch, ask }
}
