import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The keys of every service that a test process starts: few tests are about keys. */
let pems: { signing: string; log: string } | undefined
let folder: string | undefined

const inPem = {
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
} as const

export function keyPems(): { signing: string; log: string } {
  pems ??= {
    signing: generateKeyPairSync('rsa', { modulusLength: 2048, ...inPem }).privateKey,
    log: generateKeyPairSync('ed25519', inPem).privateKey,
  }
  return pems
}

/** The settings that name them in files, which are removed when the process ends. */
export function keyFiles() {
  folder ??= writeKeys()
  return {
    SIGNING_KEY_FILES: join(folder, 'signing.pem'),
    LOG_KEY_FILES: join(folder, 'log.pem'),
    WEBHOOK_KEY_FILE: join(folder, 'webhook.key'),
  }
}

function writeKeys(): string {
  const created = mkdtempSync(join(tmpdir(), 'countersign-keys-'))
  process.once('exit', () => rmSync(created, { recursive: true, force: true }))
  for (const [name, pem] of Object.entries(keyPems())) {
    writeFileSync(join(created, `${name}.pem`), pem, { mode: 0o600 })
  }
  writeFileSync(join(created, 'webhook.key'), randomBytes(32).toString('base64'), { mode: 0o600 })
  return created
}
