import { buildApp } from '../../server/app.ts'
import type { SigningKeys } from '../../server/auth/tokens/keys.ts'
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
