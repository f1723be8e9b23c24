import { execFileSync } from 'node:child_process'

/** A certificate of two days that is signed with its own key, and this key. */
export function certificate(subject: string, extension: string): [key: string, cert: string] {
  const options = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2']
  const named = ['-subj', subject, '-addext', extension]
  const pem = execFileSync('openssl', ['req', ...options, ...named, '-keyout', '-', '-out', '-'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const part = (name: string) =>
    new RegExp(`-----BEGIN ${name}-----[^]*-----END ${name}-----`).exec(pem)?.[0] ?? ''
  return [part('PRIVATE KEY'), part('CERTIFICATE')]
}
