/** Waits, at most until the browser is online again or the signal aborts. Never rejects. */
export function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, milliseconds)
    addEventListener('online', done)
    signal?.addEventListener('abort', done)
    if (signal?.aborted) done()
    function done() {
      clearTimeout(timer)
      removeEventListener('online', done)
      signal?.removeEventListener('abort', done)
      resolve()
    }
  })
}
