import { useMutation } from '@tanstack/react-query'
import { useRef } from 'react'

/** A request that a press sends; another press is ignored until its answer is there. */
export function useAction<Input = void, Made = unknown>(
  send: (input: Input) => Promise<Made>,
  onSuccess?: (made: Made, input: Input) => unknown,
  onError?: (failure: unknown) => unknown,
) {
  // A ref changes at once, unlike state: the second press of a double click comes before the next render.
  const isUnderWay = useRef(false)
  const { mutate, ...state } = useMutation({
    mutationFn: send,
    onSettled: () => {
      isUnderWay.current = false
    },
    onSuccess: (made, input) => onSuccess?.(made, input),
    onError: (failure) => onError?.(failure),
  })
  function act(input: Input) {
    if (isUnderWay.current) return
    isUnderWay.current = true
    mutate(input)
  }
  return { ...state, act }
}
