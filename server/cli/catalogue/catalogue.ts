/** Every command as data. Nothing here imports what a command does, so help and mistakes cost nothing. */
import type { CommandSpec } from '../command.ts'
import { accountCommands } from './accounts.ts'
import { erasureCommands, logCommands, orderCommands, policyCommands } from './records.ts'
import { serviceCommands } from './service.ts'

/** Every command by its words, in the order in which help lists them. */
export const commands: ReadonlyMap<string, CommandSpec> = new Map(
  Object.entries({
    ...serviceCommands,
    ...accountCommands,
    ...orderCommands,
    ...policyCommands,
    ...erasureCommands,
    ...logCommands,
  }),
)
