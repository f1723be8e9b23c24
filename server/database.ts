import { type ConnectOptions, openDatabase } from './db/open.ts'
import { problemCodec } from './http/problems.ts'
import { type AppDatabase, groupedOperations, operations } from './operations.ts'
import { reads } from './reads.ts'

/** The service's database: the port of db/ with the operations of this service. */
export function openAppDatabase(options: ConnectOptions): Promise<AppDatabase> {
  return openDatabase({
    ...options,
    operations,
    groupedOperations,
    reads,
    writerEntry: new URL('./writer.ts', import.meta.url),
    readerEntry: new URL('./reader.ts', import.meta.url),
    refusals: problemCodec,
  })
}
