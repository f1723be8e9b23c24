import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { createServer } from 'vite'

/**
 * `npm run dev`: the web app from its sources at http://localhost:5173, reloaded as they change, in front of
 * a development service that restarts when its own sources change. Ctrl-C ends both.
 */
const root = fileURLToPath(new URL('..', import.meta.url))
const serverSources = fileURLToPath(new URL('../server', import.meta.url))
const servicePort = process.env.PORT ?? '8080'
process.env.SERVICE_URL = `http://localhost:${servicePort}`

const web = await createServer({ root: fileURLToPath(new URL('../web', import.meta.url)) })
await web.listen()
const origin = `http://localhost:${web.config.server.port}`
let service = startService()
let isEnding = false
process.stdout.write(`\n  The web app with live reload   ${origin}\n`)

web.watcher.add(serverSources)
let isRestarting = false
web.watcher.on('all', async (_event, file) => {
  if (!file.startsWith(serverSources) || isRestarting || isEnding) return
  isRestarting = true
  await restart()
  isRestarting = false
})

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, async () => {
    isEnding = true
    await Promise.all([end(service), web.close()])
    process.exit()
  })
}

function startService(): ChildProcess {
  return spawn(process.execPath, ['server/main.ts', 'serve', '--dev', ...process.argv.slice(2)], {
    cwd: root,
    stdio: 'inherit',
    // The service is reached through vite: that is the origin it has to accept.
    env: { ...process.env, PORT: servicePort, PUBLIC_URL: origin },
  })
}

async function restart(): Promise<void> {
  process.stdout.write('\n  The server’s sources have changed: restarting\n')
  await end(service)
  if (!isEnding) service = startService()
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGTERM')
  await once(child, 'exit')
}
