import {
  type CommandSpec,
  globalOptions,
  type Invocation,
  type Outcome,
  requiredArgument,
} from './command.ts'
import { UsageError } from './failures.ts'

/** The words that can come next on a command line, each with its meaning. */
interface Row {
  after: string
  /** Whether other words may come in between. They may after a command, but not after a group. */
  isCommand: boolean
  words: Map<string, string>
}

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript }

/** Prints the completion script of a shell. One table makes all three. */
export const runCompletion =
  (commands: ReadonlyMap<string, CommandSpec>) =>
  async (invocation: Invocation): Promise<Outcome> => {
    const shell = requiredArgument(invocation, 0, 'the shell')
    if (!Object.hasOwn(scripts, shell))
      throw new UsageError(`the shell is ${Object.keys(scripts).join(', ')}`)
    const script = scripts[shell as keyof typeof scripts](tableOf(commands))
    return { value: { shell, script }, text: script }
  }

function tableOf(commands: ReadonlyMap<string, CommandSpec>): Row[] {
  const groups = new Map<string, Row>()
  const add = (after: string, word: string, meaning: string) => {
    const row = groups.get(after) ?? { after, isCommand: false, words: new Map() }
    groups.set(after, row)
    if (!row.words.has(word)) row.words.set(word, meaning)
  }
  const rows = [...commands].map(([name, { summary, options }]): Row => {
    const [first = '', second] = name.split(' ')
    add('', first, second === undefined ? summary : `${first} ...`)
    if (second !== undefined) add(first, second, summary)
    const all = Object.entries({ ...options, ...globalOptions })
    const words = new Map(all.map(([option, { description }]) => [`--${option}`, description]))
    return { after: name, isCommand: true, words }
  })
  return [...groups.values(), ...rows]
}

function bashScript(rows: Row[]): string {
  const words = (row: Row) => quoted([...row.words.keys()].join(' '))
  return `_countersign() {
  local words=
  case "\${COMP_WORDS[*]:1:COMP_CWORD-1}" in
${rows.map((row) => `    ${patterns(row)}) words=${words(row)} ;;`).join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _countersign countersign`
}

function zshScript(rows: Row[]): string {
  const words = (row: Row) =>
    [...row.words].map(([word, meaning]) => quoted(`${word}:${meaning.replaceAll(':', '\\:')}`)).join(' ')
  return `#compdef countersign
_countersign() {
  local -a candidates
  case "\${(j: :)words[2,CURRENT-1]}" in
${rows.map((row) => `    ${patterns(row)}) candidates=(${words(row)}) ;;`).join('\n')}
  esac
  _describe countersign candidates
  _files
}
compdef _countersign countersign`
}

function fishScript(rows: Row[]): string {
  const words = (row: Row) => {
    const globs = [row.after, ...(row.isCommand ? [`${row.after} *`] : [])].map(quotedInFish).join(' ')
    const condition = quotedInFish(`__countersign_after ${globs}`)
    return [...row.words].map(
      ([word, meaning]) =>
        `complete -c countersign -n ${condition} -a ${quotedInFish(word)} -d ${quotedInFish(meaning)}`,
    )
  }
  return `function __countersign_after
  set -l words (commandline -opc)
  set -l line (string join ' ' -- $words[2..])
  for glob in $argv
    string match -q -- $glob "$line"; and return 0
  end
  return 1
end
${rows.flatMap(words).join('\n')}`
}

/** The patterns of `case` that match the words before the one to complete. */
function patterns({ after, isCommand }: Row): string {
  return isCommand ? `${quoted(after)}|${quoted(`${after} `)}*` : quoted(after)
}

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
const quotedInFish = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
