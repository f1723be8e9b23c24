import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, delimiter, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import type * as Package from '../../client/src/index.ts'

const run = promisify(execFile)
const source = fileURLToPath(new URL('../../client', import.meta.url))
const binaries = fileURLToPath(new URL('../../node_modules/.bin', import.meta.url))
const env = { ...process.env, PATH: [binaries, process.env.PATH].join(delimiter) }
let folder: Promise<string> | undefined

/** A project in which npm has installed the client from its tarball. It is removed when the process ends. */
export function clientProject(): Promise<string> {
  folder ??= install()
  return folder
}

async function install(): Promise<string> {
  const made = mkdtempSync(join(tmpdir(), 'countersign-client-'))
  process.once('exit', () => rmSync(made, { recursive: true, force: true }))
  // As `npm run pack` does: processes that pack at once would take each other's `client/dist` away.
  const staged = join(made, 'staged')
  await run('tsc', ['-p', source, '--outDir', join(staged, 'dist')], { env })
  for (const file of ['package.json', 'README.md', '../LICENSE']) {
    cpSync(join(source, file), join(staged, basename(file)))
  }
  const pack = ['pack', '--json', '--ignore-scripts', '--pack-destination', made]
  const { stdout } = await run('npm', pack, { cwd: staged })
  const [{ filename }] = JSON.parse(stdout)
  writeFileSync(join(made, 'package.json'), '{"type":"module"}')
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', `./${filename}`], { cwd: made })
  return made
}

/** The client as imported by a program that has installed it. */
export async function installedClient(): Promise<typeof Package> {
  const entry = createRequire(join(await clientProject(), 'x.js')).resolve('countersign-client')
  return import(pathToFileURL(entry).href)
}

/** A fetch that counts the requests, and lets a test change the answers. */
export function watchedFetch(between: (path: string, answer: Response) => Response = (_, answer) => answer) {
  const paths: string[] = []
  const watched = async (request: Request, init: RequestInit) => {
    const { pathname } = new URL(request.url)
    paths.push(pathname)
    return between(pathname, await fetch(request, init))
  }
  const count = (path: string) => paths.filter((each) => each === path).length
  return { fetch: watched, count }
}
