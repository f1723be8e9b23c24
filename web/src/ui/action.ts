import { useMutation } from '@tanstack/react-query'

/** A request that a press sends; another press is ignored until its answer is there. */
export function useAction<Input = void, Made = unknown>(
  send: (input: Input) => Promise<Made>,
  onSuccess?: (made: Made, input: Input) => unknown,
  onError?: (failure: unknown) => unknown,
) {
  const { mutate, ...state } = useMutation({
    mutationFn: send,
    onSuccess: (made, input) => onSuccess?.(made, input),
    onError: (failure) => onError?.(failure),
  })
  return { ...state, act: (input: Input) => state.isPending || mutate(input) }
}
