import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

export type Script = (body: Buffer, response: ServerResponse, request: IncomingMessage) => unknown

/** Somebody else's program, which answers as the test says until it ends. Returns its address. */
export async function startAnswering(
  t: { after(hook: () => unknown): void },
  script: Script,
): Promise<string> {
  const server = createServer(async (request, response) => script(await buffer(request), response, request))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
