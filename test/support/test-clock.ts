import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * The clock of a service under test. It stands still or runs, and `advance` moves it. A service in another
 * process reads it from a file, through clock-preload.ts.
 */
export class TestClock {
  readonly #runs: boolean
  readonly #startedAt = Date.now()
  readonly #folder = mkdtempSync(join(tmpdir(), 'countersign-clock-'))
  readonly #file: number
  #offset = 0

  constructor(runs: boolean) {
    this.#runs = runs
    this.#file = openSync(join(this.#folder, 'now'), 'w')
    this.#write()
  }

  readonly now = (): number => (this.#runs ? Date.now() : this.#startedAt) + this.#offset

  readonly advance = (milliseconds: number): void => {
    this.#offset += milliseconds
    this.#write()
  }

  get env(): Record<string, string> {
    const preload = new URL('./clock-preload.ts', import.meta.url).href
    return { NODE_OPTIONS: `--import=${preload}`, TEST_CLOCK: join(this.#folder, 'now') }
  }

  remove(): void {
    closeSync(this.#file)
    rmSync(this.#folder, { recursive: true, force: true })
  }

  /** Always thirteen digits, so a reader never sees half a number. */
  #write(): void {
    writeSync(this.#file, String(this.now()).padStart(13, '0'), 0)
  }
}
