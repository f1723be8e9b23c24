import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startAnswering } from './answering.ts'

type T = { after(hook: () => unknown): void }

export const withoutOpenssl = spawnSync('openssl', ['version']).error !== undefined && 'needs openssl'

const configuration = `
[req]
distinguished_name = name
[name]
[root]
basicConstraints = critical, CA:TRUE
[authority]
extendedKeyUsage = critical, timeStamping
[tsa]
default_tsa = answers
[answers]
serial = serial
signer_cert = authority.pem
signer_key = authority.key
signer_digest = sha256
ess_cert_id_alg = sha256
digests = sha256
default_policy = 1.3.6.1.4.1.32473.1
`
const newKey = '-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -config openssl.cnf'

/** An authority by openssl, until the test ends. Its folder has the certificate to trust, root.pem. */
export async function startAuthority(t: T): Promise<{ url: string; folder: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'countersign-authority-'))
  t.after(() => rm(folder, { recursive: true }))
  const openssl = (words: string) =>
    execFileSync('openssl', words.split(' '), { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })
  await writeFile(join(folder, 'openssl.cnf'), configuration)
  openssl(`req -x509 ${newKey} -keyout root.key -out root.pem -subj /CN=root -extensions root`)
  openssl(`req ${newKey} -keyout authority.key -out authority.csr -subj /CN=authority`)
  const issued = '-req -in authority.csr -CA root.pem -CAkey root.key -set_serial 1 -out authority.pem'
  openssl(`x509 ${issued} -extfile openssl.cnf -extensions authority`)
  const url = await startAnswering(t, async (request, response) => {
    await writeFile(join(folder, 'request.tsq'), request)
    openssl('ts -reply -config openssl.cnf -queryfile request.tsq -out answer.tsr')
    response.setHeader('content-type', 'application/timestamp-reply')
    response.end(await readFile(join(folder, 'answer.tsr')))
  })
  return { url, folder }
}

/** The hash that a request asks to stamp. */
export const hashIn = (request: Buffer) => request.subarray(24, 56)

/** An answer with this status and, in the place of the token, this hash. Nobody signed it. */
export const answerOf = (status: number, hash: Buffer) =>
  Buffer.concat([Buffer.of(0x30, 39, 0x30, 3, 2, 1, status, 0x04, 32), hash])
