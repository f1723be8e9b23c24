import { useMutation } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { ProblemError, problemOf } from '../api/problem.ts'
import { endInWords } from '../ui/describe.ts'

/** Properties of every field for an account's password. */
export const currentPassword = {
  label: 'Password',
  name: 'password',
  type: 'password',
  autoComplete: 'current-password',
  maxLength: 512,
  missing: 'Enter your password.',
} as const

interface PasswordRequest<Input> {
  send(input: Input): Promise<unknown>
  onSuccess?(): void
  /** Moves the focus to what has to be corrected. */
  onFailure(failure: unknown): void
}

/**
 * A request that holds a password. After failed tries the service may ask for a wait, during which the form
 * is closed.
 */
export function usePasswordRequest<Input>({ send, onSuccess, onFailure }: PasswordRequest<Input>) {
  const wait = useWait()
  const request = useMutation({
    mutationFn: send,
    onSuccess: () => onSuccess?.(),
    onError(failure) {
      if (failure instanceof ProblemError) wait.start(failure.retryAfterMilliseconds ?? 0)
      onFailure(failure)
    },
    // Nothing keeps the password once the answer has arrived.
    gcTime: 0,
  })
  const { isPending, mutate } = request
  const isClosed = isPending || wait.seconds > 0
  return {
    ...request,
    isClosed,
    submit(input: Input) {
      if (!isClosed) mutate(input)
    },
    /** The text of the form's button: at rest, and while it sends. */
    label(rest: string, busy: string): string {
      if (isPending) return busy
      return wait.seconds > 0 ? `${rest} (in ${wait.seconds} s)` : rest
    },
  }
}

/** Why a password was not accepted. */
export function passwordFailure(failure: unknown): string {
  if (problemOf(failure, 'wrong-password')) return 'Wrong password.'
  if (problemOf(failure, 'too-many-attempts', 'rate-limited')) {
    return 'Too many attempts. The button shows when you can try again.'
  }
  return endInWords(failure)
}

export function selectAll(field: HTMLInputElement | null): void {
  field?.focus()
  field?.select()
}

/** Counts down a wait that the service requires, in whole seconds. */
function useWait(): { seconds: number; start(milliseconds: number): void } {
  const [{ now, until }, set] = useState({ now: 0, until: 0 })
  useEffect(() => {
    if (until <= now) return undefined
    const timer = setTimeout(() => set({ now: Date.now(), until }), 1000)
    return () => clearTimeout(timer)
  }, [now, until])
  return {
    seconds: Math.max(0, Math.ceil((until - now) / 1000)),
    start(milliseconds) {
      // Reads the clock once: two readings could differ by a millisecond, which would show as a second.
      const start = Date.now()
      set({ now: start, until: start + milliseconds })
    },
  }
}
