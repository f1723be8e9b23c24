import { program } from '../version.ts'
import { commands } from './catalogue/catalogue.ts'
import { type CommandSpec, globalOptions, type OptionSpec } from './command.ts'

const lineWidth = 100

/** Lists the commands, or those whose first word is `group`. */
export function commandListHelp(group?: string): string {
  const listed = [...commands].filter(([name]) => group === undefined || name.startsWith(`${group} `))
  const usage = group === undefined ? '<command>' : `${group} <command>`
  const example = listed.map(([, spec]) => spec.examples[0]).find((text) => text !== undefined)
  return [
    group === undefined ? 'Countersign: an orders service with its own authentication.\n' : undefined,
    `Usage: ${program} ${usage} [options]`,
    `\nCommands:\n${columns(listed.map(([name, spec]) => [name, spec.summary]))}`,
    `\nExample:\n  ${program} ${example}`,
    `\n${program} <command> --help explains a command.`,
  ]
    .filter((part) => part !== undefined)
    .join('\n')
}

export function commandHelp(name: string, spec: CommandSpec): string {
  const usage = [program, name, spec.argumentsText, '[options]']
    .filter((part) => part !== undefined)
    .join(' ')
  const options = { ...globalOptions, ...spec.options }
  const notes = (spec.notes ?? []).map((note) => wrap(note, '')).join('\n')
  return [
    `Usage: ${usage}`,
    `\n${spec.summary.charAt(0).toUpperCase()}${spec.summary.slice(1)}.`,
    notes === '' ? undefined : `\n${notes}`,
    `\nOptions:\n${columns(Object.entries(options).map(([option, of]) => [optionText(option, of), of.description]))}`,
    `\n${spec.examples.length === 1 ? 'Example' : 'Examples'}:`,
    ...spec.examples.map((example) => `  ${program} ${example}`),
  ]
    .filter((part) => part !== undefined)
    .join('\n')
}

function optionText(name: string, option: OptionSpec): string {
  return option.value === undefined ? `--${name}` : `--${name} ${option.value}`
}

function columns(pairs: [string, string][]): string {
  const width = Math.max(...pairs.map(([left]) => left.length)) + 4
  return pairs
    .map(([left, right]) => `  ${left.padEnd(width - 2)}${wrap(right, ' '.repeat(width)).trimStart()}`)
    .join('\n')
}

/** Breaks at spaces; every line starts with `indent`. */
function wrap(text: string, indent: string): string {
  const lines: string[] = []
  let line = indent
  for (const word of text.split(' ')) {
    if (line.trim() !== '' && line.length + word.length + 1 > lineWidth) {
      lines.push(line)
      line = indent
    }
    line += line.trim() === '' ? word : ` ${word}`
  }
  return [...lines, line].join('\n')
}
