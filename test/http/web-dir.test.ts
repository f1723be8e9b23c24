import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it, type TestContext } from 'node:test'
import { assertProblem } from '../support/problem.ts'
import { exchange, request } from '../support/raw.ts'
import { type Service, startService } from '../support/service.ts'

const outside = mkdtempSync(join(tmpdir(), 'countersign-outside-'))
const folder = mkdtempSync(join(tmpdir(), 'countersign-web-dir-'))
after(() => {
  for (const path of [outside, folder]) rmSync(path, { recursive: true })
})

const page = `<!doctype html><style>a{}</style><script>one()</script>\r\n<script src="/assets/a.js"></script>
<script type="module">\r\ntwo()\r\n</script>`
const files = {
  'index.html': page,
  'other.html': '<!doctype html>',
  'one.html': '<!doctype html>',
  'two.js': 'two()',
  'assets/index-Dc5yuaw1.js': 'hashed by Vite',
  'assets/OpenSans-SemiBold.woff2': 'a font',
  'main-4WQJ3OZ7.js': 'hashed by Angular',
  'main.8f3c2e1d0b.js': 'hashed by webpack',
  'a b.txt': 'a space',
  'icon-1024x768.png': 'a picture',
  '.env': 'secret',
  '.git/config': 'secret',
  'v1/orders': 'never',
  '..2026_11_28/cm.js': 'of a ConfigMap',
  '..2026_11_28/only.js': 'secret',
}
for (const [name, text] of Object.entries(files)) {
  mkdirSync(join(folder, name, '..'), { recursive: true })
  writeFileSync(join(folder, name), text)
}
writeFileSync(join(outside, 'secret'), 'secret')
symlinkSync(join(outside, 'secret'), join(folder, 'linked'))
symlinkSync(outside, join(folder, 'folder'))
symlinkSync(join(folder, 'a b.txt'), join(folder, 'inside.txt'))
symlinkSync(join(outside, 'secret'), join(folder, 'one.html.br'))
symlinkSync(join(outside, 'secret'), join(folder, 'two.js.gz'))
symlinkSync('.env', join(folder, 'env.txt'))
symlinkSync('.git', join(folder, 'git'))
symlinkSync('..2026_11_28', join(folder, '..data'))
symlinkSync('..data/cm.js', join(folder, 'cm.js'))

const start = (t: TestContext, env: Record<string, string> = {}): Promise<Service> =>
  startService({ inside: true, env: { WEB_DIR: folder, ...env }, until: t })

describe('a folder with another app', () => {
  it('has its files, and its page everywhere else', async (t) => {
    const service = await start(t)
    const immutable = 'public, max-age=31536000, immutable'
    for (const [path, text, cache] of [
      ['/', page, 'no-cache'],
      ['/orders/7?x=y', page, 'no-cache'],
      ['/problems/validation-failed', page, 'no-cache'],
      ['/index.html', page, 'no-cache'],
      ['/robots.txt', page, 'no-cache'],
      ['/other.html', files['other.html'], 'no-cache'],
      ['/assets/index-Dc5yuaw1.js', 'hashed by Vite', immutable],
      ['/main-4WQJ3OZ7.js', 'hashed by Angular', immutable],
      ['/main.8f3c2e1d0b.js', 'hashed by webpack', immutable],
      ['/assets/OpenSans-SemiBold.woff2', 'a font', 'no-cache'],
      ['/icon-1024x768.png', 'a picture', 'no-cache'],
      ['/a%20b.txt', 'a space', 'no-cache'],
      ['/inside.txt', 'a space', 'no-cache'],
      ['/cm.js', 'of a ConfigMap', 'no-cache'],
    ] as const) {
      const answer = await service.client().get(path)
      assert.deepEqual([answer.status, answer.text], [200, text], path)
      assert.equal(answer.headers.get('cache-control'), cache, path)
    }
    assertProblem(await service.client().get('/assets/missing.js'), 404, 'route-not-found')
    assertProblem(await service.client().get('/v1/nothing'), 404, 'route-not-found')
    assert.match((await service.client().get('/verify')).text, /<!doctype html>[\s\S]*receipt/i)
  })

  it('has no file that begins with a dot or that a link leads to outside', async (t) => {
    const service = await start(t)
    for (const path of [
      ...['/.env', '/%2eenv', '/.git/config', '/linked', '/folder/secret', '/folder', '/assets', '/env.txt'],
      ...['/git/config', '/one.html.br', '/one.html', '/two.js', '/..data/only.js', '/%2e.data/only.js'],
      ...[
        '/../outside/secret',
        '/%2e%2e%2fsecret',
        '/..%5csecret',
        '/a%00b',
        '//etc/passwd',
        '/assets/../.env',
      ],
    ]) {
      for (const encoding of ['identity', 'br', 'gzip']) {
        const asked = request('GET', path, [`Accept-Encoding: ${encoding}`])
        const { text } = await exchange(service.baseUrl, asked)
        assert.doesNotMatch(text, /secret|root:/, path)
      }
    }
  })

  it('has the policy of the app that is built in, and allows the inline scripts and styles of its page', async (t) => {
    const service = await start(t)
    const policy = (await service.client().get('/orders')).headers.get('content-security-policy') ?? ''
    const directive = (name: string) => policy.split('; ').find((each) => each.startsWith(name))
    // printf 'one()' | openssl sha256 -binary | base64
    const one = "'sha256-HR7iaask9daLMRRskMI++QeJtjWDOjyPA6lGzYGzKW4='"
    assert.equal(directive('script-src')?.includes(one), true, policy)
    assert.equal(directive('script-src')?.match(/sha256-/g)?.length, 2)
    assert.equal(directive('style-src')?.match(/sha256-/g)?.length, 1)
    assert.match(policy, /frame-ancestors 'none'/)
  })

  it('has the policy that is set for it, and keeps what that allows', async (t) => {
    const given = "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'"
    const service = await start(t, { WEB_CSP: given })
    const policy = (await service.client().get('/orders')).headers.get('content-security-policy') ?? ''
    assert.match(
      policy,
      /^default-src 'self'; script-src 'self' 'sha256-.*'; style-src 'self' 'unsafe-inline'$/,
    )
    const api = (await service.client().get('/v1/orders')).headers.get('content-security-policy')
    assert.equal(api, "default-src 'none'; frame-ancestors 'none'")
  })
})
