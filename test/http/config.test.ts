// engine: none
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { type Config, ConfigurationError, readConfig, readDatabase, settings } from '../../server/config.ts'
import { parseDatabaseUrl } from '../../server/db/address.ts'
import { DatabaseRefused } from '../../server/db/errors.ts'
import { isLoopbackHost } from '../../server/setting.ts'

const production = { development: false }
const development = { development: true }
const key = Buffer.from('0123456789abcdef0123456789abcdef').toString('base64')
const required = {
  PUBLIC_URL: 'https://orders.example.com',
  SIGNING_KEY_FILES: '/keys/a.pem, /keys/b.pem',
  LOG_KEY_FILES: '/keys/log.pem',
  ANTIFORGERY_KEY: key,
}

function faultsOf(
  env: Record<string, string>,
  mode: { development: boolean; allowRemoteDemo?: boolean },
): string[] {
  try {
    readConfig(env, mode)
  } catch (error) {
    assert.ok(error instanceof ConfigurationError)
    assert.equal(error.message, error.faults.join('\n'))
    return error.faults
  }
  return []
}

/** The setting of each fault. */
const namesOf = (faults: string[]) => faults.map((fault) => fault.split(':')[0])

describe('the configuration', () => {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-config-'))
  after(() => rmSync(folder, { recursive: true }))

  it('has the defaults of section 12', () => {
    const { antiforgeryKey, database, ...config } = readConfig(required, production)
    assert.equal(database.databaseUrl, 'file:./data/countersign.db')
    assert.equal(antiforgeryKey?.toString('base64'), key)
    assert.deepEqual(config, {
      development: false,
      allowRemoteDemo: false,
      host: '0.0.0.0',
      port: 8080,
      publicUrl: 'https://orders.example.com',
      signingKeyFiles: ['/keys/a.pem', '/keys/b.pem'],
      logWitnesses: [],
      logWitnessQuorum: undefined,
      logWitnessSeconds: 60,
      logKeyFiles: ['/keys/log.pem'],
      webhookKeyFile: undefined,
      webhookNetworks: [],
      accessTokenTtlSeconds: 900,
      serviceTokenTtlSeconds: 3600,
      refreshTokenIdleTtlSeconds: 1_209_600,
      refreshTokenFamilyTtlSeconds: 2_592_000,
      sessionIdleTtlSeconds: 1800,
      sessionAbsoluteTtlSeconds: 28_800,
      permissionCacheTtlSeconds: 300,
      documentBytesPerHour: 314_572_800,
      rateLimits: {
        factor: 1,
        anonymous: 300,
        static: 3000,
        exchange: 60,
        refresh: 60,
        refreshAddress: 600,
        read: 1200,
        write: 1200,
      },
      trustedProxies: [],
      corsOrigins: [],
      securityContact: [],
      defaultTimeZone: 'UTC',
      organisationName: undefined,
      currency: undefined,
      smtpUrl: undefined,
      mailFrom: undefined,
      logLevel: 'info',
      drainSeconds: 0.5,
      keepAliveSeconds: 75,
      metricsPort: undefined,
      antiforgeryKeyFile: undefined,
      databasePasswordFile: undefined,
      signingAlgorithm: 'RS256',
      webDir: undefined,
      webCsp: undefined,
      oidcIssuer: undefined,
      oidcClientId: undefined,
      oidcClientSecretFile: undefined,
      oidcName: 'company account',
      oidcScopes: 'openid profile email',
      oidcNewAccounts: 'refuse',
      oidcTrustEmail: 'false',
      oidcRoles: undefined,
    } satisfies Omit<Config, 'antiforgeryKey' | 'database'>)
    const inDevelopment = readConfig({}, development)
    assert.equal(inDevelopment.host, '127.0.0.1')
    assert.equal(inDevelopment.database.databaseUrl, 'file:./data/development.db')
    assert.equal(inDevelopment.currency, 'EUR')
    assert.equal(inDevelopment.rateLimits.factor, 10)
    assert.equal(inDevelopment.publicUrl, undefined)
  })

  it('fails closed in production: it requires every key that development generates at start', () => {
    assert.deepEqual(namesOf(faultsOf({}, production)), [
      'PUBLIC_URL',
      'SIGNING_KEY_FILES',
      'LOG_KEY_FILES',
      'ANTIFORGERY_KEY or ANTIFORGERY_KEY_FILE',
    ])
    for (const name of Object.keys(required)) {
      const faults = faultsOf({ ...required, [name]: '' }, production)
      assert.equal(faults.length, 1, name)
      assert.match(faults[0] ?? '', new RegExp(`^${name}`))
    }
    assert.deepEqual(namesOf(faultsOf({ ...required, SIGNING_KEY_FILES: ' , ' }, production)), [
      'SIGNING_KEY_FILES',
    ])
  })

  it('lists every fault at once', () => {
    const wrong = {
      PORT: '65536',
      PUBLIC_URL: 'http://orders.example.com',
      SIGNING_KEY_FILES: '/keys/a.pem',
      LOG_KEY_FILES: '/keys/log.pem',
      ANTIFORGERY_KEY: 'c2hvcnQ=',
      ACCESS_TOKEN_TTL_SECONDS: '0',
      PERMISSION_CACHE_TTL_SECONDS: '301',
      RATE_LIMIT_FACTOR: '-1',
      RATE_LIMIT_READ: '1.5',
      TRUSTED_PROXIES: '10.0.0.0/8, everywhere',
      CORS_ORIGINS: 'https://a.example/path',
      DEFAULT_TIME_ZONE: 'Mars/Base',
      ORGANISATION_NAME: 'Müller\nSöhne',
      CURRENCY: 'BTX',
      LOG_LEVEL: 'loud',
      METRICS_PORT: '0',
      SMTP_URL: 'http://mail.example.com',
      MAIL_FROM: 'nobody',
      SIGNING_ALGORITHM: 'HS256',
      WEB_DIR: '/no/such/folder',
      WEB_CSP: 'none',
    }
    const { SIGNING_KEY_FILES: _, LOG_KEY_FILES: __, ...faulty } = wrong
    assert.deepEqual(namesOf(faultsOf(wrong, production)).sort(), Object.keys(faulty).sort())
  })

  it('demands TLS of a mail server that is not on this machine', () => {
    const read = (SMTP_URL: string) =>
      readConfig({ ...required, SMTP_URL, MAIL_FROM: 'orders@example.com' }, production).smtpUrl
    const none = { user: '', password: '' }
    const server = { host: 'mail.example.com', ...none }
    assert.deepEqual(read('smtps://mail.example.com'), { ...server, port: 465, security: 'tls' })
    assert.deepEqual(read('smtps://a%40b:p%25@mail.example.com:2465/'), {
      ...server,
      port: 2465,
      security: 'tls',
      user: 'a@b',
      password: 'p%',
    })
    assert.deepEqual(read('smtp://mail.example.com'), { ...server, port: 587, security: 'starttls' })
    for (const host of ['localhost', 'LOCALHOST', '127.0.0.1', '[::1]']) {
      const found = read(`smtp://${host}:2525`)
      const named = host.toLowerCase().replaceAll(/[[\]]/g, '')
      assert.deepEqual(found, { ...none, host: named, port: 2525, security: 'none' })
    }
    for (const host of ['mail.localhost', '10.0.0.1', '128.0.0.1', 'localhost.example.com']) {
      assert.equal(read(`smtp://${host}`)?.security, 'starttls', host)
    }
    for (const url of [
      'mail.example.com',
      'http://mail.example.com',
      'smtp://',
      'smtp:mail.example.com',
      'smtps://mail.example.com/path',
      'smtps://mail.example.com?tls=no',
      'smtps://mail.example.com#x',
      'smtps://ma il.example.com',
      'smtps://user@mail.example.com',
      'smtps://:password@mail.example.com',
      'smtps://u:%zz@mail.example.com',
    ]) {
      const env = { ...required, SMTP_URL: url, MAIL_FROM: 'orders@example.com' }
      assert.deepEqual(namesOf(faultsOf(env, production)), ['SMTP_URL'], url)
    }
  })

  it('needs a provider with the settings of its accounts, which hold roles back', () => {
    const roles = faultsOf({ ...required, OIDC_ROLES: 'claim=groups; it=Admin' }, production)
    assert.deepEqual(roles, ['OIDC_ROLES: needs OIDC_ISSUER'])
    const client = faultsOf({ ...required, OIDC_CLIENT_ID: 'countersign' }, production)
    assert.deepEqual(client, ['OIDC_CLIENT_ID: needs OIDC_ISSUER'])
  })

  it('needs a sender with a mail server', () => {
    const faults = faultsOf({ ...required, SMTP_URL: 'smtps://mail.example.com' }, production)
    assert.deepEqual(faults, ['MAIL_FROM: required with SMTP_URL'])
    const read = (MAIL_FROM: string) => readConfig({ ...required, MAIL_FROM }, production).mailFrom
    const address = 'orders@example.com'
    assert.deepEqual(read(address), { name: '', address })
    assert.deepEqual(read(` <${address}>`), { name: '', address })
    assert.deepEqual(read(`Müller, Söhne <${address}>`), { name: 'Müller, Söhne', address })
    assert.deepEqual(read(`"Orders" <${address}>`), { name: 'Orders', address })
    for (const sender of [
      'orders',
      'a@b, c@d',
      'x <a@b> y',
      'x <a@b',
      '"a b"@example.com',
      'a@[127.0.0.1]',
    ]) {
      assert.deepEqual(
        namesOf(faultsOf({ ...required, MAIL_FROM: sender }, production)),
        ['MAIL_FROM'],
        sender,
      )
    }
  })

  it('never repeats a secret in a fault', () => {
    const secret = 'S3cr3t/not+a!key'
    const file = join(folder, 'key')
    writeFileSync(file, secret)
    const env = {
      PUBLIC_URL: `https://user:${secret}@orders.example.com`,
      ANTIFORGERY_KEY: secret,
      ANTIFORGERY_KEY_FILE: file,
      CORS_ORIGINS: `https://user:${encodeURIComponent(secret)}@a.example`,
      DEFAULT_TIME_ZONE: secret,
      CURRENCY: secret,
      LOG_LEVEL: secret,
      PORT: secret,
      SMTP_URL: `smtps://${secret}@mail.example.com`,
      MAIL_FROM: secret,
    }
    const faults = faultsOf(env, production)
    // And one for each of the two missing keys.
    assert.equal(faults.length, Object.keys(env).length + 2)
    assert.doesNotMatch(faults.join('\n'), /S3cr3t/)
  })

  it('never repeats a value that cannot be a file name, as in `SIGNING_KEY_FILES="$(cat signing.pem)"`', () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
    const oneLine = pem.replaceAll(/-----.*-----|\n/g, '')
    for (const name of Object.keys(settings)) {
      for (const value of [pem, `\n${pem}`, `file:${pem}`]) {
        const faults = faultsOf({ ...required, [name]: value }, production)
        assert.deepEqual(faults, [`${name}: must be one line, without control characters`])
      }
    }
    for (const name of ['ANTIFORGERY_KEY_FILE', 'HOST']) {
      const [fault = '', ...others] = faultsOf({ ...required, [name]: oneLine }, production)
      assert.deepEqual(others, [])
      assert.ok(fault.length < 100, fault)
    }
    for (const path of [pem, oneLine, `${oneLine}/x.db`]) {
      assert.throws(
        () => parseDatabaseUrl(`file:${path}`),
        new DatabaseRefused('DATABASE_URL: file: must be followed by the path of a file'),
      )
    }
  })

  it('says what it does not understand in a PostgreSQL address, without repeating it', () => {
    const form = (parameter: string) => {
      try {
        parseDatabaseUrl(`postgres://u:p@h/db?${parameter}`)
        return undefined
      } catch (error) {
        return (error as Error).message
      }
    }
    for (const parameter of [
      'port=5433',
      'port=65535',
      'host=/run/postgresql',
      'host=db.internal',
      'sslmode=require',
    ]) {
      assert.equal(form(parameter), undefined, parameter)
    }
    for (const port of ['abc', '0', '65536', '99999', '5432,5433', '']) {
      assert.equal(form(`port=${port}`), 'DATABASE_URL: the parameter port must be one port, from 1 to 65535')
    }
    for (const host of ['h1,h2', '/a,/b', '-----BEGIN%20PRIVATE%20KEY-----', 'a%0Ab', 'Zm9v=']) {
      assert.match(String(form(`host=${host}`)), /^DATABASE_URL: the parameter host must be one host/, host)
    }
    for (const mode of ['rubbish', 'Require']) {
      assert.match(
        String(form(`sslmode=${mode}`)),
        /^DATABASE_URL: the parameter sslmode must be one of /,
        mode,
      )
    }
    assert.equal(form('port=1&port=1'), 'DATABASE_URL: the parameter port is given twice')
  })

  it('reads the antiforgery key from a file too, and needs 32 bytes or more', () => {
    const file = join(folder, 'good-key')
    writeFileSync(file, `${key}\n`)
    const { ANTIFORGERY_KEY: _, ...others } = required
    const config = readConfig({ ...others, ANTIFORGERY_KEY_FILE: file }, production)
    assert.equal(config.antiforgeryKey?.toString('base64'), key)
    for (const value of ['', Buffer.alloc(31).toString('base64'), 'no base64!'.repeat(9)]) {
      writeFileSync(file, value)
      assert.equal(faultsOf({ ...others, ANTIFORGERY_KEY_FILE: file }, production).length, 1, value)
    }
    const missing = faultsOf({ ...others, ANTIFORGERY_KEY_FILE: join(folder, 'none') }, production)
    assert.match(missing.join(), /^ANTIFORGERY_KEY_FILE: cannot be read \(ENOENT\)$/)
  })

  it('adds the password of a file to the address of a server, for the service and for commands', () => {
    const file = join(folder, 'password')
    writeFileSync(file, 'p@ss/w?rd&\n')
    const env = (address: string) => ({ ...required, DATABASE_URL: address, DATABASE_PASSWORD_FILE: file })
    const accepted = {
      'postgres://app@db.internal/countersign': 'postgres://app@db.internal/countersign?',
      'postgres:///countersign?host=/run/postgresql&user=app':
        'postgres:///countersign?host=/run/postgresql&user=app&',
    }
    for (const [address, start] of Object.entries(accepted)) {
      const whole = `${start}password=p%40ss%2Fw%3Frd%26`
      assert.equal(readConfig(env(address), production).database.databaseUrl, whole)
      assert.equal(readDatabase(env(address), production).databaseUrl, whole)
      assert.deepEqual(parseDatabaseUrl(whole), { engine: 'postgres', url: whole })
    }
    const refused = {
      'postgres://app:secret@db.internal/countersign': 'DATABASE_URL has a password too',
      'postgres://db.internal/countersign?password=secret': 'DATABASE_URL has a password too',
      'file:./data/countersign.db': 'DATABASE_URL names no PostgreSQL server',
    }
    for (const [address, rule] of Object.entries(refused)) {
      const faults = [`DATABASE_PASSWORD_FILE: ${rule}`]
      assert.deepEqual(faultsOf(env(address), production), faults)
      assert.throws(() => readDatabase(env(address), production), new ConfigurationError(faults))
    }
    writeFileSync(file, '\n')
    assert.deepEqual(faultsOf(env('postgres://h/d'), production), ['DATABASE_PASSWORD_FILE: is empty'])
  })

  it('accepts https for the public address, http on loopback only, and only an origin', () => {
    const accepted = {
      'https://a.example:8443': 'https://a.example:8443',
      'https://a.example/': 'https://a.example',
    }
    const loopback = {
      'http://localhost:8080': 'http://localhost:8080',
      'http://127.0.0.1': 'http://127.0.0.1',
    }
    for (const [given, origin] of Object.entries({ ...accepted, ...loopback })) {
      assert.equal(readConfig({ ...required, PUBLIC_URL: given }, production).publicUrl, origin)
    }
    const refused = [
      ...'http://a.example ftp://a.example a.example https://a.example/x https://a.example?x'.split(' '),
      ...'https://u@a.example http://localhost.evil.example'.split(' '),
    ]
    for (const given of refused) {
      assert.deepEqual(
        namesOf(faultsOf({ ...required, PUBLIC_URL: given }, production)),
        ['PUBLIC_URL'],
        given,
      )
    }
  })

  it('listens on loopback only in development, unless --allow-remote-demo lifts this', () => {
    for (const host of ['0.0.0.0', '::', '192.168.1.1', 'orders.example.com', '127.0.0.1.evil.example']) {
      assert.deepEqual(namesOf(faultsOf({ HOST: host }, development)), ['HOST'], host)
      assert.equal(readConfig({ HOST: host }, { ...development, allowRemoteDemo: true }).host, host)
    }
    for (const host of ['127.0.0.1', '::1', 'localhost']) {
      assert.equal(readConfig({ HOST: host }, development).host, host)
    }
  })

  it('listens at a socket only with an absolute path, and with an address for clients', () => {
    const host = 'unix:/run/countersign/http.sock'
    assert.equal(readConfig({ ...required, HOST: host }, production).host, host)
    for (const wrong of ['unix:', 'unix:http.sock', `unix:/${'x'.repeat(90)}`]) {
      assert.deepEqual(namesOf(faultsOf({ ...required, HOST: wrong }, production)), ['HOST'], wrong)
    }
    assert.deepEqual(namesOf(faultsOf({ HOST: host }, development)), ['PUBLIC_URL'])
    const env = { HOST: host, PUBLIC_URL: 'http://localhost:9000' }
    assert.equal(readConfig(env, development).publicUrl, env.PUBLIC_URL)
  })

  it('counts an empty value as absent', () => {
    const empty = Object.fromEntries(
      ['HOST', 'PORT', 'RATE_LIMIT_FACTOR', 'LOG_LEVEL'].map((name) => [name, '']),
    )
    assert.deepEqual(readConfig({ ...required, ...empty }, production), readConfig(required, production))
  })

  it('reads numbers strictly', () => {
    for (const value of ['8080 ', '0x1f', '1e3', '-1', '80.0', '٣', ' ']) {
      assert.deepEqual(namesOf(faultsOf({ PORT: value }, development)), ['PORT'], value)
    }
    assert.equal(readConfig({ PORT: '0' }, development).port, 0)
  })
})

it('isLoopbackHost accepts the names of the machine itself, and no others', () => {
  for (const host of ['localhost', 'app.localhost', '127.0.0.1', '127.255.0.9', '[::1]']) {
    assert.equal(isLoopbackHost(host), true, host)
  }
  for (const host of [
    '',
    'localhost.example',
    'notlocalhost',
    '128.0.0.1',
    '127.0.0.1.example',
    '[::2]',
    '10.0.0.1',
  ]) {
    assert.equal(isLoopbackHost(host), false, host)
  }
})
