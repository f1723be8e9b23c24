import { buildWebIfStale } from '../web/build.ts'
import { buildServerIfStale } from './build-server.ts'

/** `npm run build`: what a production install needs besides the sources. */
for (const [name, folder, build] of [
  ['The web app', 'web/dist', buildWebIfStale],
  ['The server', 'server/dist', buildServerIfStale],
] as const) {
  const isNew = await build()
  process.stdout.write(`${name} ${isNew ? 'is built' : 'is up to date'}: ${folder}\n`)
}
