import { setTimeout as wait } from 'node:timers/promises'
import type { Lease } from '../../server/db/lease.ts'
import { openTestPort } from './test-port.ts'

// An instance that works under a lease until it is killed: `node lease-holder.ts`, with DATABASE_URL.
const port = await openTestPort(String(process.env.DATABASE_URL))
let term: number | null = null
for (;;) {
  const lease: Lease = { name: 'work', term, milliseconds: 500 }
  term = await port.write('workHolding', { lease, pid: process.pid }).catch(() => term)
  await wait(20)
}
