import { openDatabase } from '../../server/db/open.ts'
import type { DatabasePort, GroupedOperations } from '../../server/db/port.ts'
import { problemCodec } from '../../server/problems/problems.ts'
import { type TestOperations, testOperations } from './test-operations.ts'
import { type TestReads, testReads } from './test-reads.ts'

export type TestPort = DatabasePort<TestOperations, TestReads>

/** The database port with operations made for tests, as a service opens it, or as a command does. */
export function openTestPort(
  databaseUrl: string,
  groupedOperations: GroupedOperations = {},
  isForService = true,
): Promise<TestPort> {
  return openDatabase<TestOperations, TestReads>({
    databaseUrl,
    isForService,
    operations: testOperations,
    groupedOperations,
    reads: testReads,
    writerEntry: new URL('./test-writer.ts', import.meta.url),
    readerEntry: new URL('./test-reader.ts', import.meta.url),
    refusals: problemCodec,
  })
}
