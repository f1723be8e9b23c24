/** How far a reader of the log has come. */
export interface Place {
  /** After a restore the same sequences have other lines, in another era. */
  era: number
  /** The last line that was read; 0 before the first. */
  sequence: number
}

/** A place in no log: no era has the number 0. */
export const nowhere: Place = { era: 0, sequence: 0 }

export const spellPlace = ({ era, sequence }: Place): string => `${era}.${sequence}`

/** `nowhere` if the text is no place. */
export function readPlace(text: string): Place {
  const [, era, sequence] = /^([1-9]\d{0,8})\.(0|[1-9]\d{0,14})$/.exec(text) ?? []
  return era === undefined ? nowhere : { era: Number(era), sequence: Number(sequence) }
}

export const isSame = (one: Place, other: Place): boolean => spellPlace(one) === spellPlace(other)

export function isBefore(one: Place, other: Place): boolean {
  return one.era < other.era || (one.era === other.era && one.sequence < other.sequence)
}
