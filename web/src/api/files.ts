import { NoAnswerError } from './problem.ts'

/** A connection that is silent for this long was lost: the service reads a portion in a third of that. */
const silenceMilliseconds = 35_000

/**
 * Fetches an export, and tells how many lines come. Not a link: one cannot set `Accept`, nor say why the service refuses.
 * The browser keeps what comes outside of the page's memory, and what breaks off is never taken for whole.
 */
export async function fetchFile(
  begin: (signal: AbortSignal) => Promise<Response>,
  type: string,
  run: AbortController,
  told: (lines: number) => void,
): Promise<Blob> {
  let timer = setTimeout(fallSilent, silenceMilliseconds)
  function fallSilent() {
    run.abort(new NoAnswerError('an export that fell silent'))
  }
  const counting = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      clearTimeout(timer)
      timer = setTimeout(fallSilent, silenceMilliseconds)
      told(linesIn(chunk))
      controller.enqueue(chunk)
    },
  })
  try {
    const { body } = await begin(run.signal)
    return await new Response(body?.pipeThrough(counting), {
      headers: { 'content-type': type },
    }).blob()
  } finally {
    clearTimeout(timer)
  }
}

const lineFeed = 10

function linesIn(bytes: Uint8Array): number {
  let lines = 0
  for (let at = bytes.indexOf(lineFeed); at !== -1; at = bytes.indexOf(lineFeed, at + 1)) lines += 1
  return lines
}

/** The browser reads the file after the click, at a moment that it does not tell. */
const keptMilliseconds = 60_000

export function saveFile(file: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(file)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), keptMilliseconds)
}
