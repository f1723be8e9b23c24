import assert from 'node:assert/strict'

type Asynchronous = (...given: never[]) => Promise<unknown>

/** What a test lets happen at an await: `go` makes the call that is awaited. */
type Around = (go: () => Promise<unknown>) => Promise<unknown>

/**
 * Stops an operation at a named await. The next call of the part's method is made by `around`, which can act
 * before it, after it or instead of it. With `of`, calls with another first argument pass: so a write of the
 * database is named. A test whose moment never came fails.
 */
export function atNext<Name extends string>(
  t: { after(hook: () => unknown): void },
  part: { [Key in Name]: Asynchronous },
  [name, of]: readonly [method: Name, of?: string],
  around: Around,
): void {
  const method: Asynchronous = part[name]
  let isOver = false
  part[name] = function (this: unknown, ...given: never[]) {
    const go = () => method.apply(part, given)
    if (isOver || (of !== undefined && of !== given[0])) return go()
    isOver = true
    return around(go)
  }
  t.after(() => {
    part[name] = method
    assert.ok(isOver, `nothing awaited ${name} ${of ?? ''}`)
  })
}
