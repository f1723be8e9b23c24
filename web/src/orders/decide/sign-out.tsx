import { useEffect } from 'react'
import { Button } from 'react-aria-components/Button'
import { beforeSignOut } from '../../auth/session.ts'
import { announce } from '../../ui/announce.ts'
import { observable } from '../../ui/observable.ts'
import { online } from '../../ui/online.ts'
import { QuestionFrame } from './dialog/frame.tsx'
import { isOpen } from './outbox.ts'
import { outbox } from './sending.ts'
import { decisionsInWords, delayInWords } from './words.ts'

/** Answers the question whether the person may sign out, while it is asked. */
const asked = observable<((mayLeave: boolean) => void) | undefined>(undefined)

beforeSignOut(() => {
  if (outbox.get().some(isOpen)) return new Promise((answer) => asked.set(answer))
  outbox.clear()
  return true
})

function answer(mayLeave: boolean): void {
  if (mayLeave) outbox.clear()
  asked.get()?.(mayLeave)
  asked.set(undefined)
}

/** Asked at a sign-out while decisions are unsent. Once they are sent, the sign-out continues. */
export function SignOutQuestion() {
  const isAsked = asked.use() !== undefined
  const open = outbox.use().filter(isOpen)
  const delay = delayInWords(open, online.use())
  const isSettled = isAsked && open.length === 0
  useEffect(() => {
    if (!isSettled) return
    const isAllSent = outbox.get().length === 0
    if (!isAllSent) announce('You are still signed in: some of your decisions could not be sent.')
    answer(isAllSent)
  }, [isSettled])
  // The session has ended.
  useEffect(() => () => answer(false), [])
  if (!isAsked || isSettled) return null
  const is = open.length === 1
  const it = is ? 'it' : 'them'
  return (
    <QuestionFrame
      title={`Sign out with ${decisionsInWords(open.length).toLowerCase()} not sent?`}
      onLeave={() => answer(false)}
      description={
        <p>
          Send {it} first, or discard {it}: nothing then happens to the {is ? 'order' : 'orders'}.
        </p>
      }
    >
      <div role="status">{delay && <p>{delay}</p>}</div>
      <div className="row dialog-actions">
        <Button className="button" onPress={() => answer(false)}>
          Cancel
        </Button>
        <Button className="button" onPress={() => answer(true)}>
          Discard
        </Button>
        <Button className="button button-primary" autoFocus onPress={() => outbox.hurry()}>
          Send and sign out
        </Button>
      </div>
    </QuestionFrame>
  )
}
