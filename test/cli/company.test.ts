import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { companyEnv, startProvider } from '../support/company.ts'
import { setUp } from '../support/service.ts'
import { commandLine, goodPassword } from './command-line.ts'

describe('oidc check', () => {
  const provider = setUp(() => startProvider())
  after(() => provider.close())
  const settings = () => ({ PUBLIC_URL: 'https://orders.example.com', ...companyEnv(provider.issuer) })

  it('says that the provider answers and accepts the secret, and what to register there', async (t) => {
    const { status, stdout } = await commandLine(t).run('oidc check', '', settings())
    assert.equal(status, 0)
    assert.match(stdout, /answers, publishes 1 key, and accepts the secret/)
    assert.match(stdout, /Redirect URI: https:\/\/orders\.example\.com\/v1\/auth\/session\/company\/callback/)
    assert.match(stdout, /logout URI: https:\/\/orders\.example\.com\/v1\/auth\/session\/company\/logout/)
  })

  it('says which roles of OIDC_ROLES do not exist', async (t) => {
    const cli = commandLine(t)
    await cli.run('migrate')
    const env = { DATABASE_URL: `file:${cli.databaseFile}`, OIDC_ROLES: 'claim=groups; it=Admin; a=Finance' }
    const { stdout } = await cli.run('oidc check', '', { ...settings(), ...env })
    assert.match(stdout, /\nOIDC_ROLES: there is no role Finance, so nobody gets it\.\n$/)
  })

  it('says what is wrong: no settings, another secret, another issuer, no answer', async (t) => {
    const cli = commandLine(t)
    const check = async (changes: Record<string, string>) => {
      const { status, stderr } = await cli.run('oidc check', '', { ...settings(), ...changes })
      assert.equal(status, 1, stderr)
      return stderr
    }
    const secret = join(cli.folder, 'wrong.secret')
    writeFileSync(secret, 'not the secret of that client', { mode: 0o600 })
    assert.match(await check({ OIDC_CLIENT_SECRET_FILE: secret }), /does not accept the client/)
    assert.match(await check({ OIDC_ISSUER: `${provider.issuer}/` }), /: the provider calls itself http/)
    const otherName = provider.issuer.replace('localhost', '127.0.0.1')
    const saysItsName = new RegExp(`: the provider calls itself ${provider.issuer}\n`)
    assert.match(await check({ OIDC_ISSUER: otherName }), saysItsName)
    assert.match(await check({ OIDC_ISSUER: `${provider.issuer}/other` }), /: it answered with status 404\n/)
    assert.match(await check({ OIDC_SCOPES: 'profile' }), /OIDC_SCOPES: must be openid and other scopes/)
    assert.match(await check({ OIDC_ISSUER: 'http://localhost:9' }), /refused the connection/)
    assert.match(await check({ OIDC_CLIENT_ID: '' }), /OIDC_CLIENT_ID: required with OIDC_ISSUER/)
    const { stderr } = await cli.run('oidc check', '', { PUBLIC_URL: 'https://orders.example.com' })
    assert.match(stderr, /OIDC_ISSUER is not set/)
  })
})

describe('user unlink, and user list', () => {
  const linkAll =
    "insert into company_accounts select principal_id, 'https://login.example.com', 'jo', 0 from users"

  it('show and unlink a company account, unless it is the last way to sign in', async (t) => {
    const cli = commandLine(t)
    await cli.run('user add jo@example.com', goodPassword)
    cli.exec(linkAll)
    assert.match((await cli.run('user list')).stdout, /company account/)
    const password = cli.value('select password_hash from users')
    cli.exec('update users set password_hash = null')
    assert.match((await cli.run('user unlink jo')).stderr, /no way to sign in; `user link` makes another/)
    cli.change('update users set password_hash = ?', password)
    assert.deepEqual(await cli.json('user unlink jo'), { userName: 'jo', changed: true })
    assert.deepEqual(await cli.json('user unlink jo'), { userName: 'jo', changed: false })
    assert.partialDeepStrictEqual(await cli.json('user list'), [{ userName: 'jo', hasCompanyAccount: false }])
  })

  it('leave roles that follow a claim to the provider', async (t) => {
    const cli = commandLine(t)
    await cli.run('user add jo@example.com --role Viewer', goodPassword)
    cli.exec(linkAll)
    const env = {
      DATABASE_URL: `file:${cli.databaseFile}`,
      ...companyEnv('https://login.example.com', { OIDC_ROLES: 'claim=groups; all=Viewer' }),
    }
    assert.match(
      (await cli.run('user revoke jo Viewer', '', env)).stderr,
      /the provider decides who has Viewer: change it there/,
    )
    assert.equal((await cli.run('user grant jo Operator', '', env)).status, 0)
  })
})
