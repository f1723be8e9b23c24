import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { quickStart } from './process.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const page = readFileSync(`${root}/docs/operations.md`, 'utf8')

/** The commands of each shell block of a chapter of docs/operations.md, as the page has them. */
export function commandsOf(chapter: string): string[][] {
  const [, text = ''] = page.split(new RegExp(`^#+ ${chapter}$`, 'm'))
  const [own = ''] = text.split(/^#+ /m)
  return [...own.matchAll(/^( *)```sh\n(.*?)^ *```/gms)].map(([, indent = '', block = '']) =>
    block
      .split('\n')
      .map((line) => line.slice(indent.length))
      .filter((line) => line !== ''),
  )
}

/** The day of the backup that the page restores. */
const day = '2026-11-21'

/** The machine on which the commands run. */
export interface Machine {
  databaseUrl: string
  /** In place of /var/backups/countersign. */
  backups: string
  /** `systemctl stop countersign` and `systemctl start countersign`. */
  stop(): Promise<unknown>
  start(): Promise<unknown>
  /** More settings of the commands. */
  env?: Record<string, string>
}

/** Runs commands one after the other, as they stand, and returns what they print. Rejects if one fails. */
export async function runOn(machine: Machine, commands: readonly string[]): Promise<string> {
  const { databaseUrl, backups, env: more } = machine
  const env = {
    PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
    HOME: process.env.HOME,
    DATABASE_URL: databaseUrl,
    ...quickStart,
    ...more,
  }
  const printed: string[] = []
  for (const command of commands) {
    if (command === 'systemctl stop countersign') await machine.stop()
    else if (command === 'systemctl start countersign') await machine.start()
    else {
      const text = command.replaceAll('/var/backups/countersign', backups).replaceAll('$(date +%F)', day)
      const { stdout } = await promisify(execFile)('bash', ['-ec', text], { cwd: root, env })
      printed.push(stdout)
    }
  }
  return printed.join('')
}
