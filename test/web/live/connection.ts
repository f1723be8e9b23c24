import { settled } from '../../support/page.ts'

/** A connection of the live list, seen from the service. */
interface Connection {
  headers: Headers
  send(text: string): Promise<void>
  end(): Promise<void>
  /** Whether the page has ended it. */
  isOver(): boolean
}

/** The live list of a service. */
export function liveList() {
  const opened: Connection[] = []
  const service = {
    /** Answers instead of opening a connection. */
    refuses: undefined as (() => Response) | undefined,
    answer(request: Request): Response {
      if (service.refuses) return service.refuses()
      const { readable, writable } = new TextEncoderStream()
      const writer = writable.getWriter()
      request.signal.addEventListener('abort', () => writer.abort(request.signal.reason))
      const done = (act: Promise<void>) => Promise.all([act.catch(() => undefined), settled()])
      opened.push({
        headers: request.headers,
        send: async (text) => void (await done(writer.write(text))),
        end: async () => void (await done(writer.close())),
        isOver: () => request.signal.aborted,
      })
      return new Response(readable)
    },
    /** Takes the connection that a page has opened, if there is one. */
    async connection(): Promise<Connection | undefined> {
      await settled()
      return opened.shift()
    },
    async next(): Promise<Connection> {
      // Node passes a lock on in another thread.
      for (let turn = 0; turn < 1_000 && opened.length === 0; turn += 1) await settled()
      const [next] = opened.splice(0, 1)
      if (next === undefined) throw new Error('no connection was opened')
      return next
    },
  }
  return service
}
