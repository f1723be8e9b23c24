import assert from 'node:assert/strict'
import { chownSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { Client } from '../support/client.ts'
import {
  buildImage,
  type Container,
  type Image,
  startContainer,
  withoutContainers,
} from '../support/container.ts'
import { isLong } from '../support/faults.ts'
import { freePort } from '../support/process.ts'
import { until } from '../support/stream.ts'

const skip = isLong ? withoutContainers() : 'takes minutes: npm run test:faults'

describe('the image of the Containerfile', { skip }, () => {
  const volumes = mkdtempSync(join(tmpdir(), 'countersign-volumes-'))
  const folders = { data: join(volumes, 'data'), keys: join(volumes, 'keys') }
  const password = 'quiet harbour lanterns at dusk'
  let image: Image
  let env: Record<string, string>
  let baseUrl: string
  before(async () => {
    image = buildImage()
    const [user = 0, group = 0] = image.config.User.split(':').map(Number)
    for (const folder of Object.values(folders)) {
      mkdirSync(folder)
      chownSync(folder, user, group)
    }
    const port = await freePort()
    baseUrl = `http://127.0.0.1:${port}`
    env = {
      HOST: '127.0.0.1',
      PORT: String(port),
      PUBLIC_URL: 'https://orders.example.com',
      DATABASE_URL: 'file:/data/countersign.db',
      SIGNING_KEY_FILES: '/keys/signing.pem',
      LOG_KEY_FILES: '/keys/log.pem',
      ANTIFORGERY_KEY_FILE: '/keys/antiforgery.key',
      DRAIN_SECONDS: '3',
    }
  })
  after(() => {
    image?.remove()
    rmSync(volumes, { recursive: true })
  })

  async function succeeds(args: string[], input = ''): Promise<void> {
    const command = startContainer(image, { folders, env, args, input })
    assert.equal(await command.ended, 0, command.output())
  }

  async function serve(): Promise<Container> {
    const container = startContainer(image, { folders, env })
    container.ended.then((status) => assert.equal(status, 0, container.output()))
    await until(async () => (await fetch(`${baseUrl}/health/ready`).catch(() => undefined))?.ok === true)
    return container
  }

  it('runs as an account without rights, and without a shell', () => {
    const { User, Entrypoint, Cmd } = image.config
    assert.match(User, /^[1-9]\d*:[1-9]\d*$/)
    assert.deepEqual([Entrypoint.at(-1), ...Cmd], ['server/main.js', 'serve'])
  })

  it('makes keys and accounts, serves, and drains on SIGTERM, on a root that is read-only', async () => {
    await succeeds(['key', 'generate', '--out', '/keys/signing.pem'])
    await succeeds(['key', 'generate', '--log', '--out', '/keys/log.pem'])
    await succeeds(['key', 'generate', '--antiforgery', '--out', '/keys/antiforgery.key'])
    await succeeds(['user', 'add', 'jo@example.com', '--role', 'Operator'], `${password}\n`)
    const refused = startContainer(image, { folders, env, args: ['key', 'generate', '--out', 'signing.pem'] })
    assert.equal(await refused.ended, 1)
    assert.match(refused.output(), /the file system is read-only/)

    const container = await serve()
    const { body } = await new Client(baseUrl).post('/v1/auth/token', { email: 'jo@example.com', password })
    const jo = new Client(baseUrl).withBearer(body.accessToken)
    assert.equal((await jo.post('/v1/orders', { customer: 'Acme', total: 12.5 })).status, 201)
    assert.equal((await fetch(baseUrl)).status, 200)

    container.signal('SIGTERM')
    await until(async () => (await fetch(`${baseUrl}/health/ready`)).status === 503)
    assert.equal((await jo.get('/v1/orders')).body.totalCount, 1)
    assert.equal(await container.ended, 0, container.output())
    assert.match(container.output(), /"signal":"SIGTERM","msg":"shutting down"/)
    await succeeds(['log', 'verify'])
    const { uid } = statSync(join(folders.data, 'countersign.db'))
    assert.equal(uid, Number.parseInt(image.config.User, 10))
  })
})
