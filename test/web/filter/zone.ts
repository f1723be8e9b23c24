import { after, before } from 'node:test'

const zoneBefore = process.env.TZ

/** Node takes over a zone that is set while it runs. */
export function inZone(zone: string | undefined): void {
  if (zone === undefined) delete process.env.TZ
  else process.env.TZ = zone
}

/** For the describe that calls this in its body: it begins in UTC, and leaves the zone that it found. */
export function beginInUtc(): void {
  before(() => inZone('UTC'))
  after(() => inZone(zoneBefore))
}
