import { parseArgs } from 'node:util'
import { Load, type LoadResult } from './load.ts'
import { machineFacts, print, short, writeResult } from './report.ts'
import type { Requests } from './requests.ts'
import { median } from './rounds.ts'
import type { MeasuredServer } from './server.ts'
import { prepareWorkplace, type Site, sqliteSite, startService } from './site.ts'

/**
 * How an attack from one address affects other callers, with the limits of section 8 of the contract:
 * their p99 during the attack, as a ratio to their p99 without it in the same round, and what the attack
 * alone costs. The attacker sends as fast as the service answers.
 *
 * node bench/attack.ts [--orders N] [--rounds N] [--seconds N] [--connections N] [--only TEXT] [--pause MS]
 */
const { values } = parseArgs({
  options: {
    orders: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '32' },
    pause: { type: 'string', default: '0' },
    only: { type: 'string', default: '' },
  },
})
/** Some of the hundred users of a site. Each attacks once, so that every round begins with a full quota. */
const attackerCount = 40
const tokensPerUser = 5

interface Attack {
  name: string
  requests(): Requests
}

const fromOneAddress = 'x-forwarded-for: 203.0.113.66\r\n'
const random = () => Math.random().toString(36).slice(2).padEnd(12, 'x')
const many = <T>(make: () => T) => Array.from({ length: 500 }, make)

function attacksOn({ callers, paths, orders }: Site): Attack[] {
  let next = 0
  /** All tokens of a user who has not attacked yet. */
  const credentials = () => {
    const start = (next++ % attackerCount) * tokensPerUser
    return callers.bearers.slice(start, start + tokensPerUser).map((bearer) => `${bearer}${fromOneAddress}`)
  }
  const get = (requested: string[], headers: string[]): Requests => ({
    kind: 'get',
    paths: requested,
    headers,
  })
  const post = (path: string, bodies: string[], headers = [fromOneAddress]): Requests => ({
    kind: 'post',
    path,
    headers,
    bodies,
    idempotent: false,
  })
  const filter = (text: string, more = '') => `/v1/orders?filter=${encodeURIComponent(text)}${more}`
  const worstFilter = () =>
    filter(Array.from({ length: 25 }, () => `createdAtTimeZone:${random().slice(0, 3)}`).join(' OR '))
  const password = 'a password that is nobodys'
  const broken = callers.bearers.map((bearer) =>
    bearer.replace(/.{40}\r\n$/, () => `${random()}${'A'.repeat(28)}\r\n${fromOneAddress}`),
  )
  return [
    { name: 'unknown paths', requests: () => get(['/v1/none'], [fromOneAddress]) },
    { name: 'tokens with a wrong signature', requests: () => get(['/v1/auth/me'], broken) },
    {
      name: 'cookies of no session',
      requests: () =>
        get(
          ['/v1/auth/me'],
          many(() => `cookie: __Host-Http-session=${random().repeat(4).slice(0, 43)}\r\n${fromOneAddress}`),
        ),
    },
    {
      name: 'sign-ins of unknown users',
      requests: () =>
        post(
          '/v1/auth/token',
          many(() => JSON.stringify({ email: `${random()}@example.com`, password })),
        ),
    },
    {
      name: 'refresh tokens that never were',
      requests: () =>
        post(
          '/v1/auth/token/refresh',
          many(() => JSON.stringify({ refreshToken: random().repeat(9).slice(0, 112) })),
        ),
    },
    {
      name: 'orders of the attacker’s user',
      requests: () => post('/v1/orders', ['{"customer":"Acme","total":1}'], credentials()),
    },
    { name: 'filters that read every row', requests: () => get(many(worstFilter), credentials()) },
    {
      name: 'text of two letters',
      requests: () =>
        get(
          many(() => filter(`customer:${random().slice(0, 2)}`, '&orderBy=total')),
          credentials(),
        ),
    },
    {
      name: 'ten thousand orders at once',
      requests: () =>
        get(
          paths.dateRange.map(nearly).map((path) => `${path}&paginated=false`),
          credentials(),
        ),
    },
    {
      name: 'pages in the middle',
      requests: () =>
        get(
          many(
            () =>
              `/v1/orders?pageSize=100&orderBy=customer&pageNumber=${Math.floor(orders / 200 - Math.random() * 99)}`,
          ),
          credentials(),
        ),
    },
  ]
}

/**
 * The same range of days, a tenth shorter, so that it has at most the ten thousand orders of a list without
 * pages.
 */
function nearly(path: string): string {
  const query = new URLSearchParams(path.slice(path.indexOf('?')))
  const [low = 0, high = 0] = [...(query.get('filter') ?? '').matchAll(/[<=](\d{4}-\S+)/g)].map(([, text]) =>
    Date.parse(text ?? ''),
  )
  const end = new Date(low + (high - low) * 0.9).toISOString()
  return `/v1/orders?filter=${encodeURIComponent(`createdAtUtc>=${new Date(low).toISOString()} createdAtUtc<${end}`)}`
}

/** Callers within their limits, all at once: each of sixty users sends a few requests a second. */
function victimsOf({ callers, paths }: Site): Record<string, Requests> {
  const headers = callers.bearers.slice(attackerCount * tokensPerUser)
  const bodies = ['{"customer":"Acme","total":1}']
  return {
    'GET one': { kind: 'get', paths: paths.orders, headers },
    'first page': { kind: 'get', paths: ['/v1/orders?pageSize=20'], headers },
    'text filter 1 %': { kind: 'get', paths: paths.textFilter, headers },
    POST: { kind: 'post', path: '/v1/orders', headers, bodies, idempotent: true },
  }
}

const workplace = prepareWorkplace()
try {
  const site = await sqliteSite(workplace, Number(values.orders), 'attacked')
  const env = { ...site.env, RATE_LIMIT_FACTOR: '1', TRUSTED_PROXIES: '127.0.0.1' }
  const server = await startService({ ...site, env })
  try {
    await measure(site, server)
  } finally {
    await server.stop()
    await site.close()
  }
} finally {
  workplace.remove()
}

async function measure(site: Site, server: MeasuredServer): Promise<void> {
  const result: Record<string, unknown> = { machine: machineFacts(), options: values }
  const { port } = server
  const attacker = new Load()
  const victims = Object.entries(victimsOf(site)).map(([name, requests]) => ({
    name,
    requests,
    load: new Load(),
  }))
  const milliseconds = Number(values.seconds) * 1000
  let run = 0
  const calm = () =>
    Promise.all(
      victims.map(({ name, requests, load }) => {
        const expected = name === 'POST' ? 201 : 200
        const order = {
          port,
          requests,
          connections: 2,
          pauseMilliseconds: 20,
          warmUpMilliseconds: 300,
          milliseconds,
        }
        return load.run({ ...order, expected, run: `${process.pid}-${run++}` })
      }),
    )
  const assault = (attack: Attack) =>
    attacker.run({
      port,
      requests: attack.requests(),
      connections: Number(values.connections),
      pauseMilliseconds: Number(values.pause),
      warmUpMilliseconds: 0,
      milliseconds: milliseconds + 300,
      expected: 0,
      run: `attack-${run++}`,
    })
  await calm()
  for (const attack of attacksOn(site).filter(({ name }) => name.includes(values.only))) {
    const idle: LoadResult[][] = []
    const under: LoadResult[][] = []
    for (let round = 0; round < Number(values.rounds); round += 1) {
      idle.push(await calm())
      const flood = assault(attack)
      under.push(await calm())
      await flood
    }
    const before = await server.usage()
    const { all, failures } = await assault(attack)
    const each = ((await server.usage()).cpuMicroseconds - before.cpuMicroseconds) / all
    result[`${attack.name}: alone`] = { cpuMicroseconds: each, answers: failures }
    print(`${attack.name}: alone ${short(each)} us of the service for each of ${JSON.stringify(failures)}`)
    for (const [index, { name }] of victims.entries()) {
      const line = toLine(
        idle.map((round) => round[index]),
        under.map((round) => round[index]),
      )
      result[`${attack.name}: ${name}`] = line
      print(`    ${name.padEnd(16)} ${line.text}`)
    }
  }
  await Promise.all([attacker, ...victims.map(({ load }) => load)].map((load) => load.end()))
  print(`written to ${writeResult('attack', result)}`)
}

function toLine(idle: (LoadResult | undefined)[], under: (LoadResult | undefined)[]) {
  const of = (rounds: typeof idle, figure: 'p50' | 'p99' | 'rate') =>
    median(rounds.map((round) => round?.[figure] ?? Number.NaN))
  const ratio = median(
    under.map((round, index) => (round?.p99 ?? Number.NaN) / (idle[index]?.p99 ?? Number.NaN)),
  )
  const failures = under.map((round) => round?.failures ?? {})
  const text =
    `p99 ${short(of(idle, 'p99'))} -> ${short(of(under, 'p99'))} ms (${short(ratio)} times), ` +
    `p50 ${short(of(idle, 'p50'))} -> ${short(of(under, 'p50'))}, a second ${short(of(idle, 'rate'))} -> ${short(of(under, 'rate'))}` +
    (failures.some((one) => Object.keys(one).length > 0) ? `, failures ${JSON.stringify(failures)}` : '')
  return {
    ratio,
    text,
    idle: idle.map((round) => round?.p99),
    under: under.map((round) => round?.p99),
    failures,
  }
}
