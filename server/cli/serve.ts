import type { Invocation, Outcome } from './command.ts'
import { UsageError } from './failures.ts'

/** Hands over to the service, which then runs until it is told to stop. */
export async function runServe(invocation: Invocation): Promise<Outcome> {
  const { development, switches } = invocation
  for (const name of ['allow-remote-demo', 'no-demo-orders']) {
    if (switches.has(name) && !development) throw new UsageError(`--${name} goes with --dev`)
  }
  const workers = Number(invocation.texts.workers ?? 1)
  if (!(Number.isInteger(workers) && workers >= 1 && workers <= 64)) {
    throw new UsageError('--workers takes a whole number from 1 to 64')
  }
  const { serve } = await import('../serve.ts')
  await serve({
    development,
    allowRemoteDemo: switches.has('allow-remote-demo'),
    demoOrders: !switches.has('no-demo-orders'),
    workers,
  })
  return { value: undefined, text: '' }
}
