import { buildWebIfStale } from '../web/build.ts'

/** `npm run build`: what a production install needs besides the sources. */
const isNew = await buildWebIfStale()
process.stdout.write(isNew ? 'The web app is built: web/dist\n' : 'The web app is up to date: web/dist\n')
