import { machineAccount } from '../audit/audit.ts'
import { formatInstant, systemClock } from '../clock.ts'
import type { CommandSpec, Invocation } from './command.ts'

const info = 30

/**
 * The line that administration leaves, in the form of the service's log: what was done, and by which account of the
 * machine. Passwords and secrets are no arguments; addresses of databases may hold one, and are left out. No email is
 * there either: the event of the change names the account.
 */
export function traceOf(
  command: string,
  spec: CommandSpec,
  { positionals, texts, lists, switches }: Invocation,
): string {
  const own = Object.entries(spec.options ?? {})
  const switched = own.filter(([name, { value }]) => value === undefined && switches.has(name))
  const given = Object.entries({ ...texts, ...lists })
    .filter(([name]) => spec.options?.[name]?.value !== 'ADDRESS')
    .map(([name, value]) => [
      name,
      typeof value === 'string' ? withoutEmail(value) : value?.map(withoutEmail),
    ])
  return JSON.stringify({
    level: info,
    time: formatInstant(systemClock()),
    event: 'administration',
    command,
    arguments: positionals.map(withoutEmail),
    options: Object.fromEntries([...given, ...switched.map(([name]) => [name, true])]),
    by: machineAccount(),
    sudoBy: process.env.SUDO_USER,
    msg: 'carried out',
  })
}

function withoutEmail(argument: string): string {
  return argument.includes('@') ? '***' : argument
}
