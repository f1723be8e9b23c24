interface Question {
  url: string
  body: string | Uint8Array<ArrayBuffer>
  headers?: Record<string, string>
  answerLimitBytes: number
  signal: AbortSignal
}

/** Asks somebody else's program. A redirect is an answer like others. Throws an Error if there is none. */
export async function post({
  url,
  answerLimitBytes,
  ...request
}: Question): Promise<{ status: number; body: Buffer }> {
  const response = await fetch(url, { method: 'POST', redirect: 'manual', ...request })
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of response.body ?? []) {
    length += chunk.length
    if (length > answerLimitBytes) throw new Error(`its answer has more than ${answerLimitBytes} bytes`)
    chunks.push(chunk)
  }
  return { status: response.status, body: Buffer.concat(chunks) }
}

/** Why it failed. Of a fetch that failed, the cause says more. */
export function reasonOf(error: unknown): string {
  const { name, message, cause } = error as Error & { cause?: NodeJS.ErrnoException }
  if (name === 'TimeoutError') return 'it did not answer in time'
  return cause?.code ?? cause?.message ?? message
}
