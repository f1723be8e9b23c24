/**
 * The folding of text search: two texts are equal for the filter language exactly when their folds are equal,
 * and one contains the other when its fold does. Stored search columns and filter values are both folded
 * here, so that SQLite and PostgreSQL agree.
 *
 * - Unicode compatibility forms are one (NFKC): fullwidth letters, ligatures, the Kelvin sign.
 * - Case is ignored with full mappings, so ß, ẞ, ss and SS are one, and so are σ, ς and Σ.
 * - Every i of Turkish folds to `i` (I, i, İ, ı, and i with a dot above): `istanbul` finds `İSTANBUL`, and
 *   `ısparta` finds `ISPARTA`. No language is known here, and a search that finds a little more beats one
 *   that misses.
 * - No letter is mapped by its place in a word, so a fragment folds as it does inside the whole. (A fragment
 *   that begins in the middle of a character, with a combining mark, is no fragment in this sense.)
 * - Idempotent; ASCII folds as the `lower()` of both databases does. Accents, spaces and control characters
 *   stay.
 *
 * The stored columns must be written again when this function changes, or when Node gets a newer Unicode.
 */
export function foldText(text: string): string {
  const folded = text
    .normalize('NFKC')
    .toLowerCase() // ẞ has no upper-case form other than itself, its lower-case form ß has one
    .toUpperCase() // turns ß into SS, and gives every sigma and every i one form
    .toLowerCase()
    .replaceAll('ς', 'σ') // toLowerCase() makes a ς where a sigma ends a word
    .replace(/i\u0307+/g, 'i') // the forms that İ, and ı with a dot, now have
  return folded.normalize('NFKC')
}
