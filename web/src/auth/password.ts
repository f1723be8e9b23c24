import { useMutation } from '@tanstack/react-query'
import { ProblemError, problemOf } from '../api/problem.ts'
import { endInWords } from '../ui/describe.ts'
import { useWait } from './wait.ts'

interface PasswordRequest<Input> {
  send(input: Input): Promise<unknown>
  onSuccess?(): void
  /** Moves the focus to what has to be corrected. */
  onFailure(failure: unknown): void
}

/**
 * A request that holds a password. After failed tries the service may ask to wait; the form is closed
 * meanwhile.
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
    // Nothing keeps the password once the answer is there.
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
    /** The text of its button: at rest, and while it sends. */
    label(rest: string, busy: string): string {
      if (isPending) return busy
      return wait.seconds > 0 ? `${rest} (in ${wait.seconds} s)` : rest
    },
  }
}

/** Why a password was not taken. */
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
