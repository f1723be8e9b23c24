import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import chromium, { inflate } from '@sparticuz/chromium'

/**
 * A separate process, because the package unpacks into the process's temporary folder, whatever is already
 * there. Start it with an empty TMPDIR: afterwards it holds `chromium`, `fonts/` and `al2023/lib/`.
 */
const packageFolder = dirname(dirname(createRequire(import.meta.url).resolve('@sparticuz/chromium')))

await inflate(join(packageFolder, 'bin', 'al2023.tar.br'))
const executable = await chromium.executablePath()
if (executable !== join(tmpdir(), 'chromium')) throw new Error(`unpacked to ${executable}`)
