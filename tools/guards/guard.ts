/** A place in the code, and what takes its place while the guard is broken. `from` occurs in the file exactly once. */
export interface Edit {
  file: string
  from: string
  to: string
}

/** Something that security or integrity hangs on, how it is broken, and the tests that have to notice. */
export interface Guard {
  id: string
  /** What the service then does, in a few words. */
  broken: string
  /** More than one where two places secure the same: each alone changes nothing that anybody could see. */
  edits: Edit[]
  /** At least one test of these files has to fail. */
  tests: string[]
  /** Where the guard is in what PostgreSQL alone runs; otherwise the tests run on SQLite. */
  engine?: 'postgres' | undefined
}

/** Writes a list of guards of one file after the other. */
export function inFile(file: string) {
  return (id: string, broken: string, tests: string[], from: string, to = '', ...more: Edit[]): Guard => ({
    id,
    broken,
    edits: [{ file, from, to }, ...more],
    tests,
  })
}
