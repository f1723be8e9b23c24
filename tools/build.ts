import { buildWebIfStale } from '../web/build.ts'
import { makeKyselyOneFile } from './one-file.ts'

/** `npm run build`: what a production install needs besides the sources. */
const isNew = await buildWebIfStale()
process.stdout.write(`The web app ${isNew ? 'is built' : 'is up to date'}: web/dist\n`)
await makeKyselyOneFile()
