import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type StampedDay, stampedDays } from '../audit/timestamps/store.ts'
import { type Invocation, type Outcome, requiredArgument } from './command.ts'
import { withDatabaseToRead } from './database.ts'
import { Refused } from './failures.ts'

/** Writes what the folder does not have yet, and changes no file. */
export async function runLogTimestamps(invocation: Invocation): Promise<Outcome> {
  const folder = requiredArgument(invocation, 0, 'the folder')
  const days = await withDatabaseToRead(invocation, (db) => stampedDays(db.read))
  mkdirSync(folder, { recursive: true })
  const added = days.filter((day) => addDay(folder, day)).length
  return {
    value: { folder, days: days.length, added },
    text: `Days with a timestamp in ${folder}: ${days.length}, ${added} of them new.`,
  }
}

/** Whether it was missing. As in the name of the log, the first era is not named. */
function addDay(folder: string, { day, era, checkpoint, answer }: StampedDay): boolean {
  const path = join(folder, era === 1 ? day : `${day}-era-${era}`)
  const isCheckpointNew = addFile(`${path}.checkpoint`, Buffer.from(checkpoint))
  return addFile(`${path}.tsr`, Buffer.from(answer, 'base64')) || isCheckpointNew
}

/** Whether it was missing. Throws `Refused` if it is there with another content. */
function addFile(file: string, content: Buffer): boolean {
  try {
    writeFileSync(file, content, { flag: 'wx', mode: 0o600, flush: true })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  if (!readFileSync(file).equals(content)) {
    throw new Refused('file-exists', `${file} exists with another content; it was not changed`)
  }
  return false
}
