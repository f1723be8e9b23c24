import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'
import { nearestOf } from '../nearest.ts'
import { UsageError } from './failures.ts'
import { grouped } from './output.ts'

export interface OptionSpec {
  /**
   * The word that help shows after the name of an option that takes a text. Without it, the option is a
   * switch.
   */
  value?: string
  /** May be given more than once. */
  list?: boolean
  description: string
}

/** One command as data: what `--help` shows and what the command line is checked against. */
export interface CommandSpec {
  summary: string
  /** Positional arguments or required options, as shown in the usage line. */
  argumentsText?: string
  options?: Record<string, OptionSpec>
  notes?: string[]
  /** Command lines without the program's name. */
  examples: string[]
  /** Without it, the command leaves a line in the log. */
  changesNothing?: true
  /** The arguments are names that the log does not keep. */
  namesPeople?: true
  /** Imports the command only when it runs, so `--help` and mistyped commands load nothing. */
  load(): Promise<Run>
}

export type Run = (invocation: Invocation) => Promise<Outcome>

/** A command line that has passed the check. */
export interface Invocation {
  positionals: string[]
  texts: Record<string, string | undefined>
  lists: Record<string, string[] | undefined>
  switches: ReadonlySet<string>
  development: boolean
}

/** What a command prints: `value` as JSON with `--json`, else `text`; `hint` goes to standard error. */
export interface Outcome {
  value: unknown
  text: string
  hint?: string
}

export const globalOptions: Record<string, OptionSpec> = {
  dev: { description: 'use the development database when DATABASE_URL is not set' },
  json: { description: 'print one JSON value, for scripts' },
  help: { description: 'show this help' },
}

/** Checks the rest of a command line. Throws `UsageError`; its message repeats no given value. */
export function parseInvocation(spec: CommandSpec, args: string[]): Invocation {
  const options = { ...spec.options, ...globalOptions }
  const { tokens, positionals } = parse(args, options)
  const invocation: Invocation = {
    positionals,
    texts: {},
    lists: {},
    switches: new Set(tokens.flatMap((token) => (token.kind === 'option' ? [token.name] : []))),
    development: false,
  }
  invocation.development = invocation.switches.has('dev')
  for (const token of tokens) {
    if (token.kind === 'option' && token.value !== undefined) {
      addValue(invocation, token.name, token.value, options[token.name])
    }
  }
  const maximum = maximumArguments(spec)
  if (positionals.length > maximum) {
    throw new UsageError(
      `too many arguments: ${maximum} expected at most, ${positionals.length} given` +
        ' (a password or secret is never an argument)',
    )
  }
  return invocation
}

function maximumArguments({ argumentsText = '' }: CommandSpec): number {
  if (argumentsText.startsWith('--')) return 0
  return argumentsText.includes('...') ? Number.POSITIVE_INFINITY : argumentsText.split('<').length - 1
}

function parse(args: string[], options: Record<string, OptionSpec>) {
  try {
    return parseArgs({
      args,
      options: parseArgsOptions(options),
      strict: true,
      allowPositionals: true,
      tokens: true,
    })
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (!code?.startsWith('ERR_PARSE_ARGS')) throw error
    throw new UsageError(describeParseError((error as Error).message, Object.keys(options)))
  }
}

function parseArgsOptions(options: Record<string, OptionSpec>): ParseArgsOptionsConfig {
  const config: ParseArgsOptionsConfig = {}
  for (const [name, option] of Object.entries(options)) {
    config[name] = option.value === undefined ? { type: 'boolean' } : { type: 'string' }
    if (name === 'help') config[name] = { type: 'boolean', short: 'h' }
  }
  return config
}

function describeParseError(message: string, known: string[]): string {
  const [first = message] = message.split(/\. |\.?\n/)
  const option = /'(-[^' ]*)/.exec(first)?.[1]
  if (option !== undefined && /pass|secret/i.test(option)) {
    return `unknown option '${option}': a password is read from a prompt or from standard input`
  }
  const meant =
    option === undefined
      ? ''
      : didYouMean(
          option,
          known.map((name) => `--${name}`),
        )
  return first.charAt(0).toLowerCase() + first.slice(1) + (first.startsWith('Unknown option') ? meant : '')
}

function addValue(invocation: Invocation, name: string, value: string, option?: OptionSpec): void {
  // An unset variable of a script must not take a check away.
  if (value === '' && (option?.list || option?.value?.startsWith('FILE'))) {
    throw new UsageError(`option '--${name}' is empty`)
  }
  if (option?.list) {
    invocation.lists[name] = [...(invocation.lists[name] ?? []), value]
  } else {
    if (invocation.texts[name] !== undefined) throw new UsageError(`option '--${name}' is given twice`)
    invocation.texts[name] = value
  }
}

/** The values of words that may each hold several, as `Operator,Viewer`. */
export function splitCommas(words: string[]): string[] {
  return words
    .flatMap((word) => word.split(','))
    .map((word) => word.trim())
    .filter((word) => word !== '')
}

/** The positional argument at `index`. Throws `UsageError` naming what is missing. */
export function requiredArgument(invocation: Invocation, index: number, name: string): string {
  const value = invocation.positionals[index]
  if (value === undefined || value === '') throw new UsageError(`${name} is missing`)
  return value
}

/** The value of an option. Throws `UsageError` naming the option if it is missing. */
export function requiredText({ texts }: Invocation, name: string): string {
  const text = texts[name]
  if (text === undefined || text === '') throw new UsageError(`--${name} is missing`)
  return text
}

/** The value of an option. Throws `UsageError` if it is missing or out of range. */
export function wholeNumber(invocation: Invocation, name: string, greatest: number, absent?: number): number {
  if (invocation.texts[name] === undefined && absent !== undefined) return absent
  const text = requiredText(invocation, name)
  const value = /^\d{1,9}$/.test(text) ? Number(text) : 0
  if (value >= 1 && value <= greatest) return value
  throw new UsageError(`--${name} takes a whole number from 1 to ${grouped(greatest)}`)
}

/** ` (did you mean user list?)` for the nearest known name; empty when none is near. */
export function didYouMean(given: string, known: Iterable<string>): string {
  const nearest = nearestOf(given, known)
  return nearest === undefined ? '' : ` (did you mean ${nearest}?)`
}
