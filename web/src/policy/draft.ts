import { useState } from 'react'
import { holdPage } from '../ui/reload.ts'
import type { Policy, WireRow } from './queries.ts'
import { type DraftRow, draftOf } from './rows.ts'

interface Kept {
  userId: number
  rows: DraftRow[]
  /** Of the policy that was changed. */
  etag: string
}

/** In the memory of this page alone, as the draft of an order is: one person's at a time. */
let kept: Kept | undefined

function keep(next: Kept | undefined): void {
  kept = next
  holdPage('policy', next !== undefined)
}

/** What the person has in the fields: their own rows if they changed some, else those of the policy. */
export function usePolicyDraft(userId: number, policy: Policy) {
  const [own, setOwn] = useState(() => (kept?.userId === userId ? kept : undefined))
  const [untouched, setUntouched] = useState(() => ({ policy, rows: draftOf(policy.rows) }))
  const [isRestored] = useState(own !== undefined)
  if (untouched.policy !== policy) setUntouched({ policy, rows: draftOf(policy.rows) })
  function change(rows: DraftRow[], etag = own?.etag ?? policy.etag) {
    const next = { userId, rows, etag }
    keep(next)
    setOwn(next)
  }
  return {
    rows: own?.rows ?? untouched.rows,
    etag: own?.etag ?? policy.etag,
    isChanged: own !== undefined,
    isRestored: isRestored && own !== undefined,
    change,
    drop() {
      keep(undefined)
      setOwn(undefined)
    },
  }
}

const keys = new Map<string, string>()

/** The same key for the same rows in the place of the same policy, however often they are sent. */
export function keyFor(rows: readonly WireRow[], etag: string): string {
  const content = JSON.stringify([rows, etag])
  const key = keys.get(content) ?? crypto.randomUUID()
  keys.set(content, key)
  return key
}
