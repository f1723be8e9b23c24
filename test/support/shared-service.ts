import { after, before } from 'node:test'
import { type Service, type ServiceOptions, startService } from './service.ts'

let shared: Promise<Service> | undefined
after(async () => (await shared)?.close())

/**
 * The one production service of all describes of a process that call this in their bodies; one more costs some two
 * seconds of a processor. Accounts are each test's own, and so is the email of nobody, for failed tries are counted; the
 * demo accounts keep their roles, and the clock never goes back for good.
 */
export function sharedService(): Service {
  return serviceOfDescribe(() => {
    shared ??= startService()
    return shared
  })
}

/** A service for the describe that calls this in its body, from before its first test to after its last. */
export function ownService(options?: ServiceOptions): Service {
  const service = serviceOfDescribe(() => startService(options))
  after(() => service.close())
  return service
}

function serviceOfDescribe(start: () => Promise<Service>): Service {
  const service = {} as Service
  before(async () => Object.assign(service, await start()))
  return service
}
