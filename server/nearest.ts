const longestName = 40

/** The known name that is most like the given text, ignoring case; undefined if none is near. */
export function nearestOf<Name extends string>(given: string, known: Iterable<Name>): Name | undefined {
  const text = given.toLowerCase().slice(0, longestName)
  const [nearest] = [...known]
    .map((name) => ({ name, distance: distanceOf(text, name.toLowerCase()) }))
    .filter(({ name, distance }) => distance <= Math.max(2, Math.floor(name.length / 3)))
    .filter(({ distance }) => distance < text.length)
    .sort((one, other) => one.distance - other.distance)
  return nearest?.name
}

/** How many characters to insert, delete or replace (Levenshtein). */
function distanceOf(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (const [line, character] of [...one].entries()) {
    const next = [line + 1]
    for (let column = 1; column <= other.length; column += 1) {
      const replaced = (row[column - 1] ?? 0) + (character === other[column - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
