import { useMutation } from '@tanstack/react-query'
import { useRef } from 'react'
import { currentPerson } from './session.ts'

/**
 * A request that a press sends; another press is ignored until its answer is there. Of an answer that comes
 * once the person is gone, the next one hears nothing.
 */
export function useAction<Input = void, Made = unknown>(
  send: (input: Input) => Promise<Made>,
  onSuccess?: (made: Made, input: Input) => unknown,
  onError?: (failure: unknown) => unknown,
) {
  // A ref changes at once, unlike state: the second press of a double click comes before the next render.
  const isUnderWay = useRef(false)
  const { mutate, ...state } = useMutation({
    mutationFn: send,
    onMutate: currentPerson,
    onSettled: () => {
      isUnderWay.current = false
    },
    onSuccess: (made, input, begun) => begun === currentPerson() && onSuccess?.(made, input),
    onError: (failure, _, begun) => begun === currentPerson() && onError?.(failure),
  })
  function act(input: Input) {
    if (isUnderWay.current) return
    isUnderWay.current = true
    mutate(input)
  }
  return { ...state, act }
}
