import { mkdtemp, readFile, rm } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { VerifierKey } from '../../proof/note.ts'
import { ed25519Sign } from '../../server/private-keys.ts'
import { listen } from '../../server/witness/listen.ts'
import { State } from '../../server/witness/state.ts'
import { startAnswering } from './answering.ts'
import { newSigner, type Signer } from './signed-log.ts'

export interface RunningWitness {
  signer: Signer
  url: string
  stateFile: string
  /** Milliseconds, as the witness sees them. */
  now: number
  /** What went wrong inside. */
  errors: unknown[]
  /** Its lines at level warn. */
  warnings: object[]
  post(body: string | Buffer): Promise<WitnessAnswer>
  /** The text of its state. */
  state(): Promise<string>
}

export interface WitnessAnswer {
  status: number
  type: string | null
  text: string
}

export async function postTo(url: string, body: string | Buffer): Promise<WitnessAnswer> {
  const response = await fetch(`${url}/add-checkpoint`, {
    method: 'POST',
    body: new Uint8Array(Buffer.from(body)),
  })
  return { status: response.status, type: response.headers.get('content-type'), text: await response.text() }
}

/** A witness in this process, until the test ends. Logs can be added to `logs` later. */
export async function startWitness(
  t: { after(hook: () => unknown): void },
  logs: readonly VerifierKey[],
): Promise<RunningWitness> {
  const folder = await mkdtemp(join(tmpdir(), 'countersign-witness-'))
  const stateFile = join(folder, 'state.json')
  const signer = await newSigner('witness.example/one', 'cosignature/v1')
  await State.create(stateFile)
  const running: RunningWitness = {
    signer,
    url: '',
    stateFile,
    now: 1_800_000_000_000,
    errors: [],
    warnings: [],
    post: (body) => postTo(running.url, body),
    state: () => readFile(stateFile, 'utf8'),
  }
  const server = await listen(
    {
      key: signer.key,
      sign: (message) => ed25519Sign(signer.privateKey, message),
      logs,
      state: await State.open(stateFile, signer.key),
      clock: () => running.now,
      log: { info: () => undefined, warn: (members) => void running.warnings.push(members) },
    },
    { host: '127.0.0.1', port: 0, onError: (error) => void running.errors.push(error) },
  )
  running.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  t.after(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    await rm(folder, { recursive: true })
  })
  return running
}

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
