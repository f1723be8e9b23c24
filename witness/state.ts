import { open, readFile, realpath, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { readCheckpoint, readNote, type VerifierKey, verifyCosignature } from '../proof/note.ts'

/**
 * What a witness remembers: of each log, the newest checkpoint that it cosigned, with its cosignature. The
 * file is replaced whole and flushed before anyone gets the cosignature, so the witness never forgets what it
 * signed (ADR 51).
 */
export class State {
  readonly #file: string
  #text: string
  #checkpoints: ReadonlyMap<string, string>
  #lastTurn: Promise<unknown> = Promise.resolve()

  private constructor(file: string, text: string, checkpoints: ReadonlyMap<string, string>) {
    this.#file = file
    this.#text = text
    this.#checkpoints = checkpoints
  }

  /** Throws an Error unless the file is there and all of it was cosigned by this key. */
  static async open(given: string, key: VerifierKey): Promise<State> {
    // A rename would replace a link, and its target would forget.
    const file = await realpath(given)
    await removeAbandoned(nextTo(file))
    const text = await readFile(file, 'utf8')
    return new State(file, text, await readCheckpoints(text, key))
  }

  /** Makes the file of a witness that never cosigned anything. Throws EEXIST if there is a file. */
  static async create(file: string): Promise<void> {
    await writeFlushed(file, spell(new Map()))
    await flushFolder(file)
  }

  /** The note. */
  checkpointOf(origin: string): string | undefined {
    return this.#checkpoints.get(origin)
  }

  get origins(): string[] {
    return [...this.#checkpoints.keys()]
  }

  /** Runs the work when all work before it has ended. The state to keep must be decided in the same turn. */
  inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const turn = this.#lastTurn.then(work)
    this.#lastTurn = turn.catch(() => undefined)
    return turn
  }

  /** Resolves when the note is on disk. If this throws, the note may be there: send no cosignature then. */
  async keep(origin: string, note: string): Promise<void> {
    const checkpoints = new Map(this.#checkpoints).set(origin, note)
    const text = spell(checkpoints)
    const next = nextTo(this.#file)
    // Fails if the file exists, so two processes that write at once cannot both pass the comparison.
    await writeFlushed(next, text, async () => {
      if ((await readFile(this.#file, 'utf8')) !== this.#text) {
        throw new Error(`another process changed ${this.#file}: two witnesses must not share a state`)
      }
    })
    await rename(next, this.#file)
    this.#checkpoints = checkpoints
    this.#text = text
    await flushFolder(this.#file)
  }
}

const nextTo = (file: string) => `${file}.new`

/** A write takes far less. */
const abandonedMilliseconds = 2_000

/** Removes a file that a killed process left: nobody has a cosignature of it. Waits while one is written. */
async function removeAbandoned(file: string): Promise<void> {
  for (;;) {
    const found = await stat(file).catch(() => undefined)
    if (found === undefined) return
    if (Date.now() - found.mtimeMs > abandonedMilliseconds) return rm(file, { force: true })
    await wait(100)
  }
}

const spell = (checkpoints: ReadonlyMap<string, string>) =>
  `${JSON.stringify([...checkpoints.values()], null, 2)}\n`

async function readCheckpoints(text: string, key: VerifierKey): Promise<Map<string, string>> {
  const checkpoints = new Map<string, string>()
  for (const note of parse(text)) {
    const read = readNote(note)
    const { origin } = readCheckpoint(read.text)
    if ((await verifyCosignature(read, key)) === undefined) {
      throw new Error(`the checkpoint of ${origin} has no cosignature by this key`)
    }
    checkpoints.set(origin, note)
  }
  if (spell(checkpoints) !== text) throw new Error(foreign)
  return checkpoints
}

const foreign = 'it was not written by this program'

function parse(text: string): string[] {
  try {
    const notes: unknown = JSON.parse(text)
    if (Array.isArray(notes)) return notes.map(String)
  } catch {
    // It was cut off, or is something else.
  }
  throw new Error(foreign)
}

/** Writes a new file, and removes it if that fails. */
async function writeFlushed(file: string, text: string, check = async () => {}): Promise<void> {
  const handle = await open(file, 'wx')
  try {
    await check()
    await handle.writeFile(text)
    await handle.sync()
  } catch (error) {
    await rm(file, { force: true })
    throw error
  } finally {
    await handle.close()
  }
}

/** So that the new name of the file lasts too. Windows has no such call. */
async function flushFolder(file: string): Promise<void> {
  if (process.platform === 'win32') return
  const folder = await open(dirname(file))
  await folder.sync().finally(() => folder.close())
}
