import { useEffect } from 'react'
import { Button } from 'react-aria-components/Button'
import { announce } from '../ui/announce.ts'
import { inSeries } from '../ui/format.ts'
import { ModalDialog } from '../ui/modal.tsx'
import { observable } from '../ui/observable.ts'
import { online } from '../ui/online.ts'
import { beforeSignOut } from './session.ts'
import { countInWords, delayInWords, type Unsent, unsent } from './unsent.ts'

interface Asked {
  /** The unsent parts when the question was asked. */
  parts: readonly Unsent[]
  answer(mayLeave: boolean): void
  isSending?: boolean
}

const asked = observable<Asked | undefined>(undefined)

beforeSignOut(() => {
  const { parts } = unsent.get()
  return parts.length === 0 || new Promise((answer) => asked.set({ parts, answer }))
})

function answer(mayLeave: boolean): void {
  asked.get()?.answer(mayLeave)
  asked.set(undefined)
}

function send(): void {
  for (const part of unsent.get().parts) part.send()
  const now = asked.get()
  asked.set(now && { ...now, isSending: true })
}

function discard(): void {
  for (const part of unsent.get().parts) part.discard()
  answer(true)
}

/** Asked at a sign-out while anything is unsent. Once it is sent, the sign-out continues. */
export function SignOutQuestion() {
  const { parts: all, isSending } = asked.use() ?? {}
  const { parts } = unsent.use()
  const isOnline = online.use()
  useEffect(() => {
    if (all === undefined || parts.length > 0) return
    const isAllSent = all.every((part) => part.isAllSent())
    if (!isAllSent) announce('You are still signed in: not everything could be sent.')
    answer(isAllSent)
  }, [all, parts])
  // The session has ended.
  useEffect(() => () => answer(false), [])
  if (all === undefined || parts.length === 0) return null
  const count = parts.reduce((sum, part) => sum + part.count, 0)
  const it = count === 1 ? 'it' : 'them'
  const delays = parts.map((part) => delayInWords({ ...part, count }, isOnline))
  const waiting = isSending
    ? `You’ll be signed out once ${count === 1 ? 'it is' : 'they are'} sent.`
    : undefined
  return (
    <ModalDialog
      title={`Sign out with ${inSeries(parts.map((part) => countInWords(part.count, part.noun)))} not sent?`}
      isOpen
      onOpenChange={() => answer(false)}
      isDismissable={false}
      role="alertdialog"
      aria-describedby="unsent-description"
    >
      <p id="unsent-description">
        Send {it} first, or discard {it}. Discarded entries have no effect.
      </p>
      <div role="status">{delays.find((delay) => delay !== undefined) ?? waiting}</div>
      <div className="row dialog-actions">
        <Button className="button" onPress={() => answer(false)}>
          Cancel
        </Button>
        <Button className="button" onPress={discard}>
          Discard
        </Button>
        <Button className="button button-primary" autoFocus onPress={send}>
          Send and sign out
        </Button>
      </div>
    </ModalDialog>
  )
}
