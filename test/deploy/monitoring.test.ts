import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { spellVerifierKey } from '../../proof/note.ts'
import { warningNames } from '../../server/http/health.ts'
import { newSigner } from '../../witness/test/signed-log.ts'
import { freePort } from '../support/process.ts'
import { bearerOf, testProduction } from '../support/production.ts'
import { newWebhook, toReceivers } from '../support/webhooks.ts'

const folder = fileURLToPath(new URL('../../docs/monitoring/', import.meta.url))
const read = (name: string) => readFileSync(`${folder}${name}`, 'utf8')

interface Rule {
  alert: string
  expr: string
}
const rules: Rule[] = parse(read('alerts.yaml')).groups.flatMap(({ rules }: { rules: Rule[] }) => rules)
const { panels } = JSON.parse(read('dashboard.json')) as { panels: { targets: { expr: string }[] }[] }
const queries = [
  ...rules.map(({ expr }) => expr),
  ...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
]

/** Labels that Prometheus adds to what it scrapes. */
const added = ['instance', 'job']
const words =
  'and by count histogram_quantile increase max min or rate sum time unless without avg label_values on'.split(
    ' ',
  )

interface Query {
  /** Each metric with the labels that it is chosen by, and their values. */
  metrics: { name: string; matchers: { label: string; value: string }[] }[]
  /** The labels that it is summed up by. */
  grouping: string[]
  /** Names that are neither metrics nor words of the language. */
  unknown: string[]
}

function partsOf(query: string, isMetric: (name: string) => boolean): Query {
  const grouping = [...query.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, names = '']) => names.split(/,\s*/))
  const bare = query.replaceAll(/\bby \([^)]*\)|\[[^\]]*\]/g, '')
  const metrics = [...bare.matchAll(/\b([a-z]\w*)(?:\{([^}]*)\})?/g)]
    .map(([, name = '', inner = '']) => ({
      name,
      matchers: [...inner.matchAll(/(\w+)\s*[!=]=?~?\s*"([^"]*)"/g)].map(([, label = '', value = '']) => ({
        label,
        value,
      })),
    }))
    .filter(({ name }) => isMetric(name))
  const names = bare.replaceAll(/\{[^}]*\}/g, '').match(/\b[a-z]\w*/g) ?? []
  return { metrics, grouping, unknown: names.filter((name) => !isMetric(name) && !words.includes(name)) }
}

describe('docs/monitoring', () => {
  const production = testProduction()
  /** What a service answers that has everything to report on: its samples, and its metrics without any. */
  let answer: string
  before(async () => {
    const port = await freePort()
    const { key } = await newSigner('witness.example', 'cosignature/v1')
    const { baseUrl } = await production.serve({
      ...toReceivers,
      METRICS_PORT: String(port),
      LOG_WITNESSES: `${spellVerifierKey(key)} http://127.0.0.1:1`,
      SMTP_URL: 'smtp://127.0.0.1:1',
      MAIL_FROM: 'orders@example.com',
    })
    await newWebhook(await bearerOf(baseUrl, 'admin'), { url: 'http://127.0.0.1:1/hook' })
    await fetch(`${baseUrl}/health/ready`)
    answer = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  })

  const typeOf = (name: string) => new RegExp(`^# TYPE ${name} (\\w+)$`, 'm').exec(answer)?.[1]
  const isMetric = (name: string) =>
    name === 'up' ||
    typeOf(name) !== undefined ||
    typeOf(name.replace(/_(?:bucket|count|sum)$/, '')) === 'histogram'
  const samplesOf = (name: string) => answer.match(new RegExp(`^${name}\\{.*$`, 'gm')) ?? []

  it('asks only for metrics that the service has', () => {
    assert.ok(queries.length > 30)
    for (const query of queries) {
      const { metrics, unknown } = partsOf(query, isMetric)
      assert.deepEqual(unknown, [], query)
      assert.ok(metrics.length > 0, query)
    }
  })

  it('queries use only existing labels and operations', () => {
    const { paths } = JSON.parse(readFileSync(`${folder}../openapi.json`, 'utf8'))
    const operations = JSON.stringify(paths)
    for (const query of queries) {
      for (const { name, matchers } of partsOf(query, isMetric).metrics) {
        for (const { label, value } of matchers.filter((matcher) => !added.includes(matcher.label))) {
          const values = samplesOf(name).filter((sample) => sample.includes(`${label}="`))
          assert.ok(values.length > 0, `${name} has no label ${label}`)
          const isSample = values.some((sample) => new RegExp(`[{,]${label}="${value}"`).test(sample))
          const isOperation = label === 'operation' && operations.includes(`"operationId":"${value}"`)
          assert.ok(isSample || isOperation || label === 'status', `${name}{${label}="${value}"}`)
        }
      }
    }
  })

  it('sums up only by existing labels', () => {
    for (const query of queries) {
      for (const label of partsOf(query, isMetric).grouping) {
        assert.ok(added.includes(label) || answer.includes(`${label}="`), `${query}: ${label}`)
      }
    }
  })

  it('has an alert for each warning of a ready instance', () => {
    const warned = rules.flatMap(
      ({ expr }) => /countersign_warning\{warning="([^"]+)"\}/.exec(expr)?.[1] ?? [],
    )
    assert.deepEqual(warned.toSorted(), warningNames.toSorted())
    const sampled = samplesOf('countersign_warning').map(
      (sample) => /warning="([^"]+)"\} 0$/.exec(sample)?.[1],
    )
    assert.deepEqual(sampled, warningNames)
  })

  it('has a test for each alert', () => {
    const tests = parse(read('alerts.test.yaml')).tests.map(
      ({ alert_rule_test }: { alert_rule_test: { alertname: string }[] }) =>
        alert_rule_test.map(({ alertname }) => alertname),
    )
    const names = rules.map(({ alert }) => alert)
    const [healthy, ...firing]: string[][] = tests
    assert.deepEqual(healthy?.toSorted(), names.toSorted())
    assert.deepEqual(firing.flat().toSorted(), names.toSorted())
  })

  const skip = spawnSync('promtool', ['--version']).error !== undefined && 'needs promtool'
  it('has alerts that fire when they should, and not otherwise', { skip }, () => {
    execFileSync('promtool', ['test', 'rules', 'alerts.test.yaml'], { cwd: folder, stdio: 'pipe' })
  })
})
