import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { arch, platform } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type Browser, chromium } from 'playwright-core'

const modules = fileURLToPath(new URL('../../../node_modules', import.meta.url))
const unpackScript = fileURLToPath(new URL('./unpack.ts', import.meta.url))

/** A page of a test ends before optimized code earns what compiling it costs: a seventh of the renderer. */
const args = ['--js-flags=--no-opt --no-maglev']

/**
 * Starts a headless Chromium: that of CHROMIUM_PATH; else the one from npm on linux-x64, an installed Chrome
 * elsewhere. It is driven over a pipe and ends with it, so it never outlives this process.
 */
export async function launchChromium(): Promise<Browser> {
  const path = process.env.CHROMIUM_PATH
  if (path) return chromium.launch({ executablePath: path, args })
  if (platform() === 'linux' && arch() === 'x64') return launchUnpacked(await unpackedFolder())
  return chromium.launch({ channel: 'chrome', args }).catch((cause) => {
    throw new Error(
      `The tests in a browser need Chrome on ${platform()}-${arch()}: install it, or set CHROMIUM_PATH to the ` +
        'executable of a Chromium.',
      { cause },
    )
  })
}

/** The package's libraries are old, so they are used only if the system has none. */
async function launchUnpacked(folder: string): Promise<Browser> {
  const options = { executablePath: join(folder, 'chromium'), args }
  const env = { ...process.env, FONTCONFIG_FILE: join(folder, 'fonts.conf') }
  try {
    return await chromium.launch({ ...options, env })
  } catch (error) {
    if (!/error while loading shared libraries/.test(String(error))) throw error
    return chromium.launch({ ...options, env: { ...env, LD_LIBRARY_PATH: join(folder, 'al2023', 'lib') } })
  }
}

/** The folder of the installed version. The first process unpacks it; others wait for it. */
async function unpackedFolder(): Promise<string> {
  const manifest = join(modules, '@sparticuz', 'chromium', 'package.json')
  const { version }: { version: string } = JSON.parse(await readFile(manifest, 'utf8'))
  const cache = join(modules, '.cache')
  const folder = join(cache, `chromium-${version}`)
  while (!existsSync(folder)) {
    const lock = await takeLock(folder)
    if (lock === undefined) await pause(50)
    else await unpack(cache, folder).finally(() => lock.close())
  }
  return folder
}

/** A name in Linux's abstract socket namespace: it is released however its holder ends. */
async function takeLock(name: string): Promise<{ close(): void } | undefined> {
  const lock = createServer()
  lock.listen(`\0${name}`)
  try {
    await once(lock, 'listening')
    return lock
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return undefined
    throw error
  }
}

/** `folder` appears whole or not at all, even if the lock does not reach that far (another container). */
async function unpack(cache: string, folder: string): Promise<void> {
  if (existsSync(folder)) return
  await mkdir(cache, { recursive: true })
  const staging = await mkdtemp(`${folder}.`)
  try {
    await promisify(execFile)(process.execPath, [unpackScript], { env: { ...process.env, TMPDIR: staging } })
    await writeFile(join(staging, 'fonts.conf'), fontsConfiguration(folder))
    await rename(staging, folder).catch((error) => {
      if (!existsSync(folder)) throw error
    })
  } finally {
    await rm(staging, { recursive: true, force: true })
  }
}

/** The system's fonts, or the package's one where the system has none. */
function fontsConfiguration(folder: string): string {
  return `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <include ignore_missing="yes">/etc/fonts/fonts.conf</include>
  <dir>${join(folder, 'fonts')}</dir>
  <cachedir>${join(folder, 'fonts-cache')}</cachedir>
</fontconfig>
`
}
