import fc from 'fast-check'

type Arbitraries<Values extends unknown[]> = { [Key in keyof Values]: fc.Arbitrary<Values[Key]> }
type Drawn<Values extends unknown[], Result> = [
  ...arbitraries: Arbitraries<Values>,
  check: (...values: Values) => Result,
]

/**
 * Runs the check on this many random values. A failure shows the value that failed, made as small as
 * possible.
 */
export function forAll<Values extends [unknown, ...unknown[]]>(
  numRuns: number,
  ...drawn: Drawn<Values, void>
): void {
  fc.assert(fc.property<Values>(...drawn), { numRuns })
}

export function forAllAsync<Values extends [unknown, ...unknown[]]>(
  numRuns: number,
  ...drawn: Drawn<Values, Promise<void>>
): Promise<void> {
  return fc.assert(fc.asyncProperty<Values>(...drawn), { numRuns })
}
