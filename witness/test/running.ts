import { mkdtemp, readFile, rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { VerifierKey } from '../../proof/note.ts'
import { signBy } from '../keys.ts'
import { listen } from '../listen.ts'
import { State } from '../state.ts'
import { sparing } from '../witness.ts'
import { newSigner, type Signer } from './signed-log.ts'

export interface RunningWitness {
  signer: Signer
  url: string
  stateFile: string
  /** Milliseconds, as the witness sees them. */
  now: number
  /** Errors inside it. */
  errors: unknown[]
  /** Its lines at level warn, and at level info. */
  warnings: object[]
  infos: object[]
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
  { type = 'cosignature/v1', ...options }: { connectionsLimit?: number; type?: VerifierKey['type'] } = {},
): Promise<RunningWitness> {
  const folder = await mkdtemp(join(tmpdir(), 'countersign-witness-'))
  const stateFile = join(folder, 'state.json')
  const signer = await newSigner('witness.example/one', type)
  await State.create(stateFile)
  const running: RunningWitness = {
    signer,
    url: '',
    stateFile,
    now: 1_800_000_000_000,
    errors: [],
    warnings: [],
    infos: [],
    post: (body) => postTo(running.url, body),
    state: () => readFile(stateFile, 'utf8'),
  }
  const server = await listen(
    {
      key: signer.key,
      sign: (message) => signBy(signer.privateKey, message),
      logs,
      state: await State.open(stateFile, signer.key),
      clock: () => running.now,
      log: sparing(
        {
          info: (members) => void running.infos.push(members),
          warn: (members) => void running.warnings.push(members),
        },
        () => running.now,
      ),
    },
    { ...options, host: '127.0.0.1', port: 0, onError: (error) => void running.errors.push(error) },
  )
  running.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  t.after(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    await rm(folder, { recursive: true })
  })
  return running
}
