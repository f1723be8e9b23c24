import { after, before } from 'node:test'
import { buildApp } from '../../server/app.ts'
import type { SigningKeys } from '../../server/auth/credentials/tokens/keys.ts'
import { makeLog } from '../../server/log.ts'
import { Client } from './client.ts'
import { assertDiscreet, watchServer } from './discretion.ts'
import type { Service } from './service.ts'

export interface Instance {
  baseUrl: string
  client(): Client
  close(): Promise<void>
}

/** One more instance of the service on the same database, with the same clock and the same or other signing keys. */
export async function startInstance(service: Service, keys?: SigningKeys): Promise<Instance> {
  const { config, db, antiforgeryKey } = service
  let logged = ''
  const write = (line: string) => {
    logged += line
  }
  const app = await buildApp({
    config,
    db,
    clock: service.now,
    log: makeLog({ level: 'trace' }, { write }),
    keys: keys ?? service.keys,
    antiforgeryKey,
    readiness: { phase: 'serving' },
  })
  watchServer(app.server)
  const baseUrl = await app.listen({ host: '127.0.0.1', port: 0 })
  async function close(): Promise<void> {
    await app.close()
    assertDiscreet(logged)
  }
  return { baseUrl, client: () => new Client(baseUrl), close }
}

type Around = (write: () => Promise<unknown>) => Promise<unknown>

/** An instance for the describe that calls this in its body. Its next write of the name runs as `around` has it. */
export function interruptedInstance(service: Service) {
  const due = new Map<string, Around>()
  const instance = {
    interrupt: (name: string, around: Around) => void due.set(name, around),
  } as Instance & { interrupt(name: string, around: Around): void }
  const write = ((name: 'createSession', input: never) => {
    const around = due.get(name) ?? ((write) => write())
    due.delete(name)
    return around(() => service.db.write(name, input))
  }) as Service['db']['write']
  before(async () => {
    Object.assign(instance, await startInstance({ ...service, db: { ...service.db, write } }))
  })
  after(() => instance.close())
  return instance
}
