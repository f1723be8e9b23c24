/**
 * Every command as data. Nothing here imports what a command does, so help, completion and mistakes cost
 * nothing.
 */
import type { CommandSpec } from '../command.ts'
import { accountCommands } from './accounts.ts'
import { logCommands, policyCommands } from './records.ts'
import { serviceCommands } from './service.ts'

const completion: CommandSpec = {
  changesNothing: true,
  argumentsText: '<bash, zsh or fish>',
  summary: 'print a script that completes `countersign` in a shell',
  examples: ['completion bash > /etc/bash_completion.d/countersign'],
  load: async () => (await import('../completion.ts')).runCompletion(commands),
}

/** Every command by its words, in the order in which help lists them. */
export const commands: ReadonlyMap<string, CommandSpec> = new Map(
  Object.entries({
    ...serviceCommands,
    completion,
    ...accountCommands,
    ...policyCommands,
    ...logCommands,
  }),
)
