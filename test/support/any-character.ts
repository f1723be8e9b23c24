import fc from 'fast-check'

const surrogates = { first: 0xd800, count: 0x800 }

/**
 * Any code point except half a surrogate pair. The unit 'binary' of fast-check does the same, but takes
 * more than a second of processor time at its first use, because it puts all 1,112,064 of them into a map.
 */
export const anyCharacter = fc.nat({ max: 0x10ffff - surrogates.count }).map(
  (index) => String.fromCodePoint(index < surrogates.first ? index : index + surrogates.count),
  (character) => {
    const codePoint = typeof character === 'string' ? character.codePointAt(0) : undefined
    if (codePoint === undefined || String.fromCodePoint(codePoint) !== character)
      throw new Error('no character')
    return codePoint < surrogates.first ? codePoint : codePoint - surrogates.count
  },
)
