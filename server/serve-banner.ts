import type { Config } from './config.ts'
import { demoAccounts, demoClient } from './seed.ts'

/** Where to look and how to sign in, for a person who started a development server. */
export function announceDemo(config: Config, address: string): void {
  const base = config.publicUrl ?? `http://localhost:${new URL(address).port}`
  const row = (who: string, secret: string, role: string) =>
    `    ${who.padEnd(22)} ${secret.padEnd(32)} ${role}`
  const lines = [
    '',
    `  Countersign (development)   ${base}`,
    `  API browser                 ${base}/scalar/v1`,
    '',
    '  Sign in with                password',
    ...demoAccounts.map(({ email, password, role }) => row(email, password, role)),
    '  As a service                secret',
    row(demoClient.clientId, demoClient.clientSecret, demoClient.role),
    '',
    ...(config.allowRemoteDemo
      ? ['  WARNING: these accounts are public, and --allow-remote-demo lets the whole network use them.', '']
      : []),
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
}
