import type { Requests } from './requests.ts'
import type { Scenario } from './rounds.ts'
import type { MeasuredServer } from './server.ts'
import type { Site } from './site.ts'

/** Enough to keep a server busy; lists of a second each do not need as many. */
const connections = 32
export const listConnections = 8

/** The ratio that a scenario has to reach, and the one hoped for. */
export interface Target {
  least: number
  hoped: number
}

export interface NamedScenario extends Scenario {
  target?: Target
}

const getTarget = { least: 0.65, hoped: 0.9 }
const listTarget = { least: 0.22, hoped: 0.35 }
const rangeTarget = { least: 0.1, hoped: 0.25 }

/**
 * The table of the service on SQLite. Creates go to a separate service: otherwise lists would find a hundred
 * thousand new orders of three customers first.
 */
export function sqliteScenarios(
  site: Site,
  server: MeasuredServer,
  creating: { site: Site; server: MeasuredServer },
): NamedScenario[] {
  const { callers, paths } = site
  const get =
    (requested: string[], headers = callers.bearers) =>
    (): Requests => ({
      kind: 'get',
      paths: requested,
      headers,
    })
  const list = (name: string, requested: string[], target: Target): NamedScenario => ({
    name,
    server,
    requests: get(requested),
    connections: listConnections,
    target,
  })
  const sorted = Object.entries(paths.firstPages).flatMap(([sort, first]) => [
    list(`list by ${sort}, first page`, [first], listTarget),
    list(`list by ${sort}, last page`, [paths.lastPages[sort] ?? ''], listTarget),
  ])
  return [
    { name: 'GET one, bearer', server, requests: get(paths.orders), connections, target: getTarget },
    {
      name: 'GET one, cookie',
      server,
      requests: get(paths.orders, callers.cookies),
      connections,
      target: { least: 0.6, hoped: 0.8 },
    },
    {
      name: 'POST, durable, idempotent',
      server: creating.server,
      requests: () => postOrders(creating.site),
      connections,
      expected: 201,
      target: { least: 0.2, hoped: 0.5 },
    },
    ...sorted,
    list('list, text filter 1 %', paths.textFilter, { least: 0.07, hoped: 0.15 }),
    list('list, status filter', paths.statusFilter, { least: 0.15, hoped: 0.25 }),
    list('list, total range 1 %', paths.totalRange, rangeTarget),
    list('list, date range 1 %', paths.dateRange, rangeTarget),
    ...overviews(site, server),
  ]
}

/** The web app's first view: sixty days in zones at, next to and far from UTC. */
function overviews({ callers }: Site, server: MeasuredServer, engine = ''): NamedScenario[] {
  return ['UTC', 'Europe/Berlin', 'Asia/Kathmandu', 'America/Los_Angeles'].map((zone) => ({
    name: `${engine}overview, days of ${zone}`,
    server,
    requests: () => ({
      kind: 'get',
      paths: ['/v1/orders/summary?days=60'],
      headers: callers.bearers.map((lines) => `${lines}time-zone: ${zone}\r\n`),
    }),
    connections: listConnections,
  }))
}

export function postgresScenarios(site: Site, server: MeasuredServer): NamedScenario[] {
  const { callers, paths } = site
  const get = (requested: string[]) => (): Requests => ({
    kind: 'get',
    paths: requested,
    headers: callers.bearers,
  })
  return [
    {
      name: 'PostgreSQL: GET one, bearer',
      server,
      requests: get(paths.orders),
      connections,
      target: { least: 0.55, hoped: 0.55 },
    },
    {
      name: 'PostgreSQL: list, first page',
      server,
      requests: get([paths.firstPages.createdAtUtc ?? '']),
      connections: listConnections,
      target: { least: 0.2, hoped: 0.2 },
    },
    {
      name: 'PostgreSQL: list, text filter 1 %',
      server,
      requests: get(paths.textFilter),
      connections: listConnections,
    },
    {
      name: 'PostgreSQL: POST, durable, idempotent',
      server,
      requests: () => postOrders(site),
      connections,
      expected: 201,
      target: { least: 0.25, hoped: 0.25 },
    },
    ...overviews(site, server, 'PostgreSQL: '),
  ]
}

/** The four requests that every peer answers. */
export function peerScenarios(peer: string, site: Site, server: MeasuredServer): NamedScenario[] {
  const { callers, paths } = site
  const get = (name: string, requested: string[], count: number): NamedScenario => ({
    name: `${name}: ${peer}`,
    server,
    requests: () => ({ kind: 'get', paths: requested, headers: callers.bearers }),
    connections: count,
  })
  return [
    get('GET one', paths.orders, connections),
    get('list 20', ['/v1/orders?pageSize=20'], listConnections),
    get('list, text filter 1 %', paths.textFilter, listConnections),
    {
      name: `POST: ${peer}`,
      server,
      requests: () => postOrders(site),
      connections,
      expected: 201,
    },
  ]
}

/** The requests that are sent to every size of the growth table. */
export function growthScenarios(site: Site, server: MeasuredServer): NamedScenario[] {
  const { callers, paths, orders } = site
  const size = orders.toLocaleString('en-US')
  const get = (name: string, requested: string[], count = connections): NamedScenario => ({
    name: `${name}, ${size} orders`,
    server,
    requests: () => ({ kind: 'get', paths: requested, headers: callers.bearers }),
    connections: count,
  })
  return [
    get('GET one', paths.orders),
    get('first page', [paths.firstPages.createdAtUtc ?? ''], listConnections),
    get('last page', [paths.lastPages.createdAtUtc ?? ''], listConnections),
    get('text filter 1 %', paths.textFilter, listConnections),
    {
      name: `POST, ${size} orders`,
      server,
      requests: () => postOrders(site),
      connections,
      expected: 201,
    },
  ]
}

/** Sign-in and refresh, and how sign-ins affect a caller who reads. */
export function signInScenarios(site: Site, server: MeasuredServer): NamedScenario[] {
  const { callers, env, paths } = site
  const logins = {
    server,
    requests: (): Requests => ({
      kind: 'post',
      path: '/v1/auth/token',
      headers: [''],
      bodies: callers.logins,
      idempotent: false,
    }),
    connections: 16,
  }
  const reader = {
    server,
    requests: (): Requests => ({ kind: 'get', paths: paths.orders, headers: callers.bearers }),
    connections: 4,
    pauseMilliseconds: 10,
  }
  const refreshes = 16
  return [
    { name: 'login', ...logins },
    {
      name: 'login by passkey',
      server,
      requests: () => ({
        kind: 'touch',
        path: '/v1/auth/session/passkey',
        rpId: new URL(env.PUBLIC_URL ?? '').hostname,
        passkeys: callers.passkeys,
        challengeSecret: env.ANTIFORGERY_KEY ?? '',
      }),
      connections,
    },
    {
      name: 'token refresh',
      server,
      requests: async () => ({
        kind: 'refresh',
        path: '/v1/auth/token/refresh',
        refreshTokens: await callers.makeRefreshTokens(refreshes),
      }),
      connections: refreshes,
    },
    { name: 'GET of a reader, alone', ...reader },
    { name: 'GET of a reader, during logins', ...reader, beside: logins },
  ]
}

export function postOrders({ callers }: Pick<Site, 'callers'>): Requests {
  const customers = ['Abenteuer & Söhne GmbH', 'Bluewater Marine Supplies Ltd', '株式会社東京製紙']
  const bodies = customers.flatMap((customer) =>
    [12.5, 199.99, 4_800, 0.0125].map((total) => JSON.stringify({ customer, total })),
  )
  return { kind: 'post', path: '/v1/orders', headers: callers.bearers, bodies, idempotent: true }
}
