import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

let pem: string | undefined
let file: string | undefined

/** The signing key of every service that a test process starts: few tests are about keys. */
export function signingKeyPem(): string {
  pem ??= generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  }).privateKey
  return pem
}

/** The key in a file, which is removed when the process ends. */
export function signingKeyFile(): string {
  if (file !== undefined) return file
  const folder = mkdtempSync(join(tmpdir(), 'countersign-keys-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  file = join(folder, 'signing.pem')
  writeFileSync(file, signingKeyPem(), { mode: 0o600 })
  return file
}
