import { NoAnswerError } from './problem.ts'

/**
 * The lines of a stream, in batches as they arrive. `onBytes` is called for whatever comes. A stream
 * that breaks off throws `NoAnswerError`.
 */
export async function* linesOf({ body }: Response, onBytes = () => {}): AsyncGenerator<string[], void> {
  let text = ''
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader()
  try {
    for (;;) {
      const chunk = await reader?.read().catch((cause) => {
        throw new NoAnswerError('a stream that broke off', { cause })
      })
      if (chunk === undefined || chunk.done) return
      onBytes()
      const lines = (text + chunk.value).split('\n')
      text = lines.pop() ?? ''
      yield lines
    }
  } finally {
    await reader?.cancel().catch(() => undefined)
  }
}
