import { after, before } from 'node:test'
import { type InsideService, type Service, startService } from './service.ts'

type Around = (write: () => Promise<unknown>) => Promise<unknown>

/**
 * One more instance for the describe that calls this in its body. `around` replaces its next write of that
 * name.
 */
export function interruptedInstance(service: Service) {
  const due = new Map<string, Around>()
  const instance = {
    interrupt: (name: string, around: Around) => void due.set(name, around),
  } as InsideService & { interrupt(name: string, around: Around): void }
  const write = ((name: 'createSession', input: never) => {
    const around = due.get(name) ?? ((write) => write())
    due.delete(name)
    return around(() => service.db.write(name, input))
  }) as Service['db']['write']
  before(async () => {
    const instanceOf = { ...service, db: { ...service.db, write } }
    Object.assign(instance, await startService({ instanceOf }))
  })
  after(() => instance.close())
  return instance
}
