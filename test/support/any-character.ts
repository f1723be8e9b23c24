import fc from 'fast-check'

const surrogates = { first: 0xd800, count: 0x800 }

/**
 * Any code point but half a surrogate pair: as the unit 'binary' of fast-check, which puts all 1,112,064 of them into a
 * map when it is first used, and takes more than a second of a processor to do so.
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
