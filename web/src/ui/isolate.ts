/** They make what follows them read in another order; new names have none, older ones may. */
const reordering = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

export function withoutReordering(name: string): string {
  return name.replace(reordering, '')
}

/** A name in a text without markup, as a title or an announcement: the words around it stay in their order. */
export function isolated(name: string): string {
  return `\u2068${withoutReordering(name)}\u2069`
}
