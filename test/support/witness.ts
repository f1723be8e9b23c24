import type { IncomingMessage, ServerResponse } from 'node:http'
import { newSigner, type Signer } from '../../witness/test/signed-log.ts'
import { startAnswering } from './answering.ts'

type Script = (body: string, response: ServerResponse, request: IncomingMessage) => unknown

/** Something that a service takes for a witness, and that answers as the test says. */
export async function startScripted(
  t: { after(hook: () => unknown): void },
  script: Script,
): Promise<{ signer: Signer; url: string; asked: string[]; script: Script }> {
  const scripted = { signer: await newSigner('witness.example/scripted', 'cosignature/v1'), script, url: '' }
  const asked: string[] = []
  scripted.url = await startAnswering(t, (bytes, response, request) => {
    const body = bytes.toString()
    asked.push(body)
    return scripted.script(body, response, request)
  })
  return Object.assign(scripted, { asked })
}
