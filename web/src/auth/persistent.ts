import { useMutation } from '@tanstack/react-query'
import { useRef } from 'react'
import { isPassing, retryDelayMilliseconds } from '../api/problem.ts'
import { ofThisPerson } from './session.ts'

/** A write by this person, one at a time. It is tried again as long as its failure is temporary. */
export function usePersistentWrite<Made>(onDone: (made: Made) => unknown) {
  // A ref changes at once, unlike state: the second press of a double click comes before the next render.
  const isUnderWay = useRef(false)
  const { mutate, ...state } = useMutation({
    mutationFn: (attempt: () => Promise<Made>) => attempt(),
    retry: (_tries, failure) => isPassing(failure),
    retryDelay: retryDelayMilliseconds,
    onSettled: () => {
      isUnderWay.current = false
    },
    onSuccess: (made) => onDone(made),
  })
  function send(attempt: () => Promise<Made>) {
    if (isUnderWay.current) return
    isUnderWay.current = true
    mutate(ofThisPerson(attempt))
  }
  return { ...state, send }
}
