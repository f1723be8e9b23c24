import type { Invocation, Outcome } from './command.ts'
import { UsageError } from './failures.ts'

/** Hands over to the service, which then runs until it is told to stop. */
export async function runServe(invocation: Invocation): Promise<Outcome> {
  const { development, switches } = invocation
  for (const name of ['allow-remote-demo', 'no-demo-orders']) {
    if (switches.has(name) && !development) throw new UsageError(`--${name} goes with --dev`)
  }
  const { serve } = await import('../serve.ts')
  await serve({
    development,
    allowRemoteDemo: switches.has('allow-remote-demo'),
    demoOrders: !switches.has('no-demo-orders'),
  })
  return { value: undefined, text: '' }
}
