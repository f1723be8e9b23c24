import { existsSync } from 'node:fs'
import { printable } from '../../proof/words.ts'
import { machineAccount } from '../caller/stamp.ts'
import { formatInstant, systemClock } from '../clock.ts'
import { program } from '../version.ts'
import { commands } from './catalogue/catalogue.ts'
import { type CommandSpec, didYouMean, type Invocation, parseInvocation } from './command.ts'
import { describeFailure, Refused, UsageError } from './failures.ts'
import { commandHelp, commandListHelp } from './help.ts'

const infoLevel = 30

/** 0 is done, 1 is refused, 2 is a wrong command line. */
export type ExitStatus = 0 | 1 | 2

/**
 * Carries out one command line. Results go to standard output, everything else to standard error; with
 * `--json` each is one JSON value. Never throws: the exit status and one clear line say what went wrong.
 */
export async function runCommandLine(argumentsGiven: string[]): Promise<ExitStatus> {
  const args = asCommand(switchesLast(argumentsGiven))
  const json = beforeTerminator(args).includes('--json')
  try {
    return await dispatch(args, json)
  } catch (error) {
    const { code, message: reason, exitStatus, members } = describeFailure(error)
    const message = reason + hintAtDevelopment(args, reason)
    const line = inLines(message.includes('cannot start:') ? message : `countersign: ${message}`)
    print(process.stderr, json ? JSON.stringify({ error: { code, message, ...members } }) : line)
    return exitStatus
  }
}

/** Someone who served with `--dev` and forgets it here looks for the database of production. */
function hintAtDevelopment(args: readonly string[], reason: string): string {
  const isUsual = /^DATABASE_URL: there is no database at \.\/data\/countersign\.db$/.test(reason)
  if (process.env.DATABASE_URL !== undefined || args.includes('--dev') || !isUsual) return ''
  return '; set DATABASE_URL, or add --dev for the database of development'
}

async function dispatch(args: string[], json: boolean): Promise<ExitStatus> {
  const help = beforeTerminator(args).some((argument) => argument === '--help' || argument === '-h')
  const [first] = args
  if (first === undefined || first.startsWith('-')) {
    if (!help && first !== undefined) throw new UsageError(`the command must come first${hint()}`)
    print(help ? process.stdout : process.stderr, commandListHelp())
    return help ? 0 : 2
  }
  const found = findCommand(args)
  if (found === undefined) return explainGroup(args, help, json)
  const [name, spec] = found
  if (help) {
    print(process.stdout, commandHelp(name, spec))
    return 0
  }
  await runCommand(name, spec, args.slice(name.split(' ').length), json)
  return 0
}

async function runCommand(name: string, spec: CommandSpec, args: string[], json: boolean): Promise<void> {
  try {
    const invocation = parseInvocation(spec, args)
    loadEnvironmentFile()
    const run = await spec.load()
    const outcome = await run(invocation)
    const output = json ? JSON.stringify(outcome.value) : inLines(outcome.text)
    if (output !== undefined && output !== '') print(process.stdout, output)
    if (outcome.hint !== undefined && !json) print(process.stderr, inLines(outcome.hint))
    if (!spec.changesNothing) print(process.stderr, traceOf(name, spec, invocation))
  } catch (error) {
    throw error instanceof UsageError ? new UsageError(`${name}: ${error.message}${hint(name)}`) : error
  }
}

/**
 * The log line of an administrative command, in the form of the service's log: what was done, and by which
 * account of the machine. It leaves out addresses of databases, which may hold a password, and emails,
 * because the event of the change names the account.
 */
function traceOf(
  command: string,
  spec: CommandSpec,
  { positionals, texts, lists, switches }: Invocation,
): string {
  const own = Object.entries(spec.options ?? {})
  const switched = own.filter(([name, { value }]) => value === undefined && switches.has(name))
  const given = Object.entries({ ...texts, ...lists })
    .filter(([name]) => spec.options?.[name]?.value !== 'ADDRESS')
    .map(([name, value]) => {
      if (spec.options?.[name]?.value === 'FULL-NAME') return [name, '***']
      return [name, typeof value === 'string' ? withoutEmail(value) : value?.map(withoutEmail)]
    })
  return JSON.stringify({
    level: infoLevel,
    time: formatInstant(systemClock()),
    event: 'administration',
    command,
    arguments: spec.namesPeople ? positionals.map(() => '***') : positionals.map(withoutEmail),
    options: Object.fromEntries([...given, ...switched.map(([name]) => [name, true])]),
    by: machineAccount(),
    sudoBy: process.env.SUDO_USER,
    msg: 'carried out',
  })
}

function withoutEmail(argument: string): string {
  return argument.includes('@') ? '***' : argument
}

function findCommand(args: string[]): [string, CommandSpec] | undefined {
  for (const name of [args.slice(0, 2).join(' '), args[0] ?? '']) {
    const spec = commands.get(name)
    if (spec !== undefined) return [name, spec]
  }
  return undefined
}

/** `user`, `user --help` and `user wrong`: the first word may still be a group of commands. */
function explainGroup(args: string[], help: boolean, json: boolean): ExitStatus {
  const [group = '', second] = args
  const known = groups().has(group)
  const named = second !== undefined && !second.startsWith('-')
  if (!known) {
    const meant =
      didYouMean(named ? `${group} ${second}` : group, commands.keys()) || didYouMean(group, groups())
    throw new UsageError(`no command '${group}'${meant}${hint()}`)
  }
  if (named && !help) {
    const given = `${group} ${second}`
    throw new UsageError(`no command '${given}'${didYouMean(given, commands.keys())}${hint(group)}`)
  }
  if (json && !help) throw new UsageError(`${group}: a command is missing${hint(group)}`)
  print(help ? process.stdout : process.stderr, commandListHelp(group))
  return help ? 0 : 2
}

/** `user`, `client`: the first words of two-word commands. */
function groups(): Set<string> {
  return new Set([...commands.keys()].flatMap((name) => name.split(' ').slice(0, -1)))
}

function hint(name?: string): string {
  return ` (see: ${program} ${name === undefined ? '' : `${name} `}--help)`
}

/** `--version` is `version`, and `help user add` is `user add --help`. */
function asCommand([first = '', ...rest]: string[]): string[] {
  if (first === '--version') return ['version', ...rest]
  if (first === 'help') return [...rest, '--help']
  return first === '' ? rest : [first, ...rest]
}

/** Also allows `--json` and `--dev` before the command. */
function switchesLast(args: string[]): string[] {
  const first = args.findIndex((argument) => argument !== '--json' && argument !== '--dev')
  return first <= 0
    ? args
    : [...args.slice(first, first + 2), ...args.slice(0, first), ...args.slice(first + 2)]
}

function beforeTerminator(args: string[]): string[] {
  const end = args.indexOf('--')
  return end === -1 ? args : args.slice(0, end)
}

/** `.env` of the working directory, if there is one; the real environment wins. */
function loadEnvironmentFile(): void {
  if (!existsSync('.env')) return
  try {
    process.loadEnvFile('.env')
  } catch (error) {
    throw new Refused('env-file', '.env cannot be read', { cause: error })
  }
}

const inLines = (text: string) => text.split('\n').map(printable).join('\n')

function print(stream: NodeJS.WriteStream, text: string): void {
  stream.write(text.endsWith('\n') ? text : `${text}\n`)
}
