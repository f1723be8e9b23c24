import { useState } from 'react'
import { useUser } from '../auth/session.ts'
import { formatCount } from '../ui/format.ts'
import { holdPage } from '../ui/reload.ts'

/** Of the contract: Unicode code points after trimming. */
export const wordsLimit = 1_000
/** The counter shows from here on. */
const counterFrom = 900

export type Reading = { ok: true; text: string } | { ok: false; fault: string }

/** `missing` is said of an empty text; without it, it may be empty. Of single characters the service judges. */
export function readWritten(written: string, missing: string | undefined): Reading {
  const text = written.trim()
  if (text === '' && missing !== undefined) return { ok: false, fault: missing }
  const left = wordsLimit - [...text].length
  return left < 0
    ? { ok: false, fault: `This can have at most ${formatCount(wordsLimit)} characters.` }
    : { ok: true, text }
}

/** How many characters are left, once that is worth knowing; negative when there are too many. */
export function lettersLeft(written: string): number | undefined {
  const { length } = [...written.trim()]
  return length < counterFrom ? undefined : wordsLimit - length
}

/**
 * In the memory of this page alone, so that an ended session or a look elsewhere loses nothing. One person's at a
 * time, as the draft of an order is.
 */
const kept = { userId: undefined as number | string | undefined, texts: new Map<string, string>() }

function textsOf(userId: number | string): Map<string, string> {
  if (kept.userId !== userId) Object.assign(kept, { userId, texts: new Map() })
  return kept.texts
}

/** What this person has written in that place and not sent yet. */
export function useWritten(place: string): [text: string, write: (text: string) => void] {
  const texts = textsOf(useUser().id)
  const [text, setText] = useState(() => texts.get(place) ?? '')
  function write(next: string) {
    setText(next)
    if (next !== '') texts.set(place, next)
    else texts.delete(place)
    holdPage('words', texts.size > 0)
  }
  return [text, write]
}

/** It is sent. */
export function dropWritten(place: string): void {
  kept.texts.delete(place)
  holdPage('words', kept.texts.size > 0)
}
