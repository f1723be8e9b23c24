import { after, before } from 'node:test'
import {
  type InsideService,
  type Service,
  type ServiceOptions,
  startInside,
  startService,
} from './service.ts'

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

/**
 * A service for the describe that calls this in its body, from before its first test to after its last. It runs in this
 * process: how it ships is seen by the shared one.
 */
export function ownService(options?: ServiceOptions): InsideService {
  const service = serviceOfDescribe(() => startInside(options))
  after(() => service.close())
  return service
}

function serviceOfDescribe<S extends Service>(start: () => Promise<S>): S {
  const service = {} as S
  before(async () => Object.assign(service, await start()))
  return service
}
