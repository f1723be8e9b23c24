import { NoAnswerError } from './problem.ts'

/** A connection that is silent for this long is lost: the service reads a batch in a third of that. */
const silenceMilliseconds = 35_000

/**
 * Fetches an export, of which it keeps `limit` lines at most, and counts them. A link could neither set
 * `Accept` nor explain a refusal. The browser keeps the file outside the page's memory. An export that breaks
 * off rejects.
 */
export async function fetchFile(
  begin: (signal: AbortSignal) => Promise<Response>,
  type: string,
  run: AbortController,
  onLines: (lines: number) => void,
  limit = Number.POSITIVE_INFINITY,
): Promise<Blob> {
  let left = limit
  let timer = setTimeout(fallSilent, silenceMilliseconds)
  function fallSilent() {
    run.abort(new NoAnswerError('an export that fell silent'))
  }
  const counting = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      clearTimeout(timer)
      timer = setTimeout(fallSilent, silenceMilliseconds)
      const { lines, end } = linesIn(chunk, left)
      left -= lines
      onLines(lines)
      controller.enqueue(chunk.subarray(0, end))
      if (left === 0) controller.terminate()
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

/** How many lines end in the bytes, up to a limit, and where the last of that many ends. */
function linesIn(bytes: Uint8Array, limit: number): { lines: number; end: number } {
  let lines = 0
  for (let at = bytes.indexOf(lineFeed); at !== -1; at = bytes.indexOf(lineFeed, at + 1)) {
    lines += 1
    if (lines === limit) return { lines, end: at + 1 }
  }
  return { lines, end: bytes.length }
}

/** The browser reads the file some time after the click. */
const keptMilliseconds = 60_000

export function saveFile(file: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(file)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), keptMilliseconds)
}
