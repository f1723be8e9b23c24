import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { startPostgres } from './data.ts'
import { readOptions } from './options.ts'
import { type Line, machineFacts, print, printTable, short, toLine, writeResult } from './report.ts'
import { interleave } from './rounds.ts'
import { type NamedScenario, peerScenarios } from './scenarios.ts'
import { fileOf, MeasuredServer } from './server.ts'
import { postgresSite, prepareWorkplace, type Site, sqliteSite, startBaseline, startService } from './site.ts'

/**
 * Sends the same four requests to the service, to F and to well-known stacks, in the same run. Each stack
 * migrates to its usual schema and has the same orders.
 */
const options = readOptions(['--peers', ...process.argv.slice(2)])
const workplace = prepareWorkplace()
const stops: (() => unknown)[] = [workplace.remove]
try {
  await run()
} finally {
  for (const stop of stops.toReversed()) await stop()
}

async function run(): Promise<void> {
  const express = install('express')
  const nest = install('nest')
  execFileSync(process.execPath, ['node_modules/typescript/bin/tsc'], { cwd: nest, stdio: 'inherit' })
  const site = await sqliteSite(workplace, options.orders, 'table')
  stops.push(() => site.close())
  const expressFile = join(workplace.folder, 'express.db')
  const orders = site.databaseUrl.replace(/^file:/, '')
  migrate(express, 'migrate.js', { DATABASE_URL: expressFile, ORDERS: orders })
  const postgres = await startPostgres()
  stops.push(() => postgres.end())
  const overPostgres = await postgresSite(workplace, options.orders, postgres.url)
  stops.push(() => overPostgres.close())
  migrate(nest, 'dist/migrate.js', { DATABASE_URL: overPostgres.databaseUrl })

  const f = await started(startBaseline(site, 'by-hand'))
  const servers: [name: string, site: Site, server: MeasuredServer][] = [
    ['Countersign, SQLite', site, await started(startService(site))],
    ['Express + Drizzle, SQLite', site, await startPeer(site, express, 'server.js', expressFile)],
    ['Countersign, PostgreSQL', overPostgres, await started(startService(overPostgres))],
    ['NestJS + TypeORM, PostgreSQL', overPostgres, await startPeer(overPostgres, nest, 'dist/main.js')],
  ]
  const fScenario: NamedScenario = {
    name: 'F (by hand)',
    server: f,
    requests: () => ({ kind: 'get', paths: site.paths.orders, headers: site.callers.bearers }),
    connections: 32,
  }
  const byServer = servers.map(([name, at, server]) => peerScenarios(name, at, server))
  const lines: Line[] = []
  for (const [kind] of (byServer[0] ?? []).entries()) {
    const group = byServer.flatMap((scenarios) => scenarios[kind] ?? [])
    const results = await interleave([fScenario, ...group], { ...options, onRound: note })
    const fRounds = results.get(fScenario.name) ?? []
    for (const scenario of [fScenario, ...group]) {
      lines.push(toLine(scenario, results.get(scenario.name) ?? [], fRounds))
    }
  }
  printTable(`Peers, ${options.orders.toLocaleString('en-US')} orders`, lines)
  for (const [name, , server] of servers) {
    const { residentBytes } = await server.usage()
    print(
      `${name}: ${short(server.startMilliseconds)} ms to start, ${short(residentBytes / 1e6)} MB after load`,
    )
  }
  const file = writeResult(options.label, { machine: machineFacts(), options, lines })
  print(`\nwritten to ${file}`)
}

/** Installs exactly the versions in the peer's lock file, separately from the service and its packages. */
function install(name: 'express' | 'nest'): string {
  const folder = fileOf(`./peers/${name}`)
  if (!existsSync(join(folder, 'node_modules'))) {
    note(`npm ci in bench/peers/${name}`)
    execFileSync('npm', ['ci'], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })
  }
  return folder
}

/** Makes the peer's tables, and fills them with the service's orders. */
function migrate(peer: string, entry: string, env: Record<string, string>): void {
  note(`migrating ${peer}`)
  execFileSync(process.execPath, [join(peer, entry)], { env: { ...process.env, ...env }, stdio: 'inherit' })
}

function startPeer(
  { env, folder }: Site,
  peer: string,
  entry: string,
  databaseUrl = env.DATABASE_URL ?? '',
): Promise<MeasuredServer> {
  const settings = { ...env, DATABASE_URL: databaseUrl, NODE_ENV: 'production' }
  return started(
    MeasuredServer.start({ args: [join(peer, entry)], env: settings, folder, readyPath: '/health' }),
  )
}

async function started(server: Promise<MeasuredServer>): Promise<MeasuredServer> {
  const running = await server
  stops.push(() => running.stop())
  return running
}

function note(text: string): void {
  process.stderr.write(`${text}\n`)
}
